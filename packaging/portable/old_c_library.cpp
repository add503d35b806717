// SPDX-License-Identifier: Apache-2.0
// The portable program runs with a C library of version 2.34, and is linked with libraries that were made for a newer
// one. Here is what they call and 2.34 does not have, as the manual of the newer one describes it.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/random.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

// What the unwinder of exceptions asks for: the object that holds an address.
struct Search {
  std::uintptr_t address;
  dl_find_object* found;
  bool is_found = false;
};

int look_into(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  std::uintptr_t begin = UINTPTR_MAX, end = 0, unwinding = 0;
  bool holds = false;
  for (const ElfW(Phdr)* part = object->dlpi_phdr; part != object->dlpi_phdr + object->dlpi_phnum; ++part) {
    const std::uintptr_t at = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) unwinding = at;
    if (part->p_type != PT_LOAD) continue;
    begin = std::min(begin, at);
    end = std::max(end, at + part->p_memsz);
    if (search.address >= at && search.address - at < part->p_memsz) holds = true;
  }
  if (!holds) return 0;
  search.is_found = unwinding != 0;
  search.found->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.found->dlfo_map_end = reinterpret_cast<void*>(end);
  search.found->dlfo_eh_frame = reinterpret_cast<void*>(unwinding);
  return 1;
}

}  // namespace

extern "C" {

// 2.35. Only libgcc calls it, which reads no other members.
int _dl_find_object(void* address, dl_find_object* found) noexcept {
  *found = {};
  Search search{reinterpret_cast<std::uintptr_t>(address), found};
  dl_iterate_phdr(look_into, &search);
  return search.is_found ? 0 : -1;
}

// 2.36, three functions. std::random_device and libexpat ask for random bytes.
void arc4random_buf(void* bytes, std::size_t size) noexcept {
  auto* at = static_cast<std::byte*>(bytes);
  while (size > 0) {
    const ssize_t got = getrandom(at, size, 0);
    if (got < 0 && errno != EINTR) std::abort();  // as the C library does without a source of random bytes
    if (got <= 0) continue;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
}

std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  arc4random_buf(&value, sizeof value);
  return value;
}

// Values below the largest multiple of `below` are evenly spread.
std::uint32_t arc4random_uniform(std::uint32_t below) noexcept {
  if (below < 2) return 0;
  const std::uint32_t uneven = -below % below;
  std::uint32_t value = arc4random();
  while (value < uneven) value = arc4random();
  return value % below;
}

// 2.35 has a hypot that sets no errno. The older one, which each later version has as well, does.
#ifdef __x86_64__
__asm__(".symver tfilefs_hypot, hypot@GLIBC_2.2.5");
#else
__asm__(".symver tfilefs_hypot, hypot@GLIBC_2.17");
#endif
double tfilefs_hypot(double x, double y);

// All that calls hypot comes here: -Wl,--wrap=hypot.
double __wrap_hypot(double x, double y) { return tfilefs_hypot(x, y); }

}  // extern "C"
