// SPDX-License-Identifier: Apache-2.0
// Makes Bag a collection for ROOT.
#pragma once
#include <TClass.h>
#include <TVirtualCollectionProxy.h>

#include "ntuple.h"

template <class T>
class BagProxy : public TVirtualCollectionProxy {
 public:
  explicit BagProxy(TClass* bag) : TVirtualCollectionProxy(bag) {}
  BagProxy(const BagProxy& other) : TVirtualCollectionProxy(other.GetCollectionClass()) {}

  TVirtualCollectionProxy* Generate() const override { return new BagProxy(*this); }
  Int_t GetCollectionType() const override { return ROOT::kSTLvector; }
  ULong_t GetIncrement() const override { return sizeof(T); }
  UInt_t Sizeof() const override { return sizeof(Bag<T>); }
  Bool_t HasPointers() const override { return false; }
  TClass* GetValueClass() const override { return std::is_class_v<T> ? TClass::GetClass(typeid(T)) : nullptr; }
  EDataType GetType() const override { return std::is_same_v<T, float> ? kFloat_t : kOther_t; }

  void PushProxy(void* bag) override { bag_ = static_cast<Bag<T>*>(bag); }
  void PopProxy() override { bag_ = nullptr; }
  void* At(UInt_t i) override { return &bag_->items[i]; }
  void Clear(const char* = "") override { bag_->items.clear(); }
  UInt_t Size() const override { return UInt_t(bag_->items.size()); }
  void* Allocate(UInt_t size, Bool_t) override {
    bag_->items.resize(size);
    return bag_;
  }
  void Commit(void*) override {}
  void Insert(const void* items, void* bag, std::size_t size) override {
    auto* first = static_cast<const T*>(items);
    auto& into = static_cast<Bag<T>*>(bag)->items;
    into.insert(into.end(), first, first + size);
  }

  TStreamerInfoActions::TActionSequence* GetConversionReadMemberWiseActions(TClass*, Int_t) override { return nullptr; }
  TStreamerInfoActions::TActionSequence* GetReadMemberWiseActions(Int_t) override { return nullptr; }
  TStreamerInfoActions::TActionSequence* GetWriteMemberWiseActions() override { return nullptr; }

  // An iterator is a pointer to an item.
  CreateIterators_t GetFunctionCreateIterators(Bool_t) override {
    return [](void* bag, void** begin, void** end, TVirtualCollectionProxy*) {
      auto& items = static_cast<Bag<T>*>(bag)->items;
      *begin = items.data(), *end = items.data() + items.size();
    };
  }
  Next_t GetFunctionNext(Bool_t) override {  // not called: a type of vectors is iterated by GetIncrement
    return [](void*, const void*) -> void* { return nullptr; };
  }
  CopyIterator_t GetFunctionCopyIterator(Bool_t) override { return nullptr; }
  DeleteIterator_t GetFunctionDeleteIterator(Bool_t) override { return nullptr; }
  DeleteTwoIterators_t GetFunctionDeleteTwoIterators(Bool_t) override {
    return [](void*, void*) {};
  }

 private:
  Bag<T>* bag_ = nullptr;
};

// Must be called before fields of bags are made.
inline void register_bags() {
  TClass* floats = TClass::GetClass(typeid(Bag<float>));
  TClass* points = TClass::GetClass(typeid(Bag<Point>));
  floats->CopyCollectionProxy(BagProxy<float>(floats));
  points->CopyCollectionProxy(BagProxy<Point>(points));
}
