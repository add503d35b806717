// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "streamer/info/basic_type.h"

namespace tfile {
namespace {

// One entry per class and version: `Class version: members;`, continued on indented lines. Members are declared as in
// C++: `T a, b` by value; `T* a` a pointer to an object; `T* a[n]` a pointer to as many numbers or objects as member n
// says; `T& a[n]` the same without the flag before the numbers; `T a[2]` an array; `T-> a` a pointer to an object
// stored in place. `base` is a base class with its version, `counter` an Int_t to which other members refer, and `#`
// the checksum: ROOT 6.40's for classes that this code writes, else only if it identifies the class. A name that ends
// in ~ is a class whose bytes, written by hand, do not follow its description in files. Versions up to TTree 4, TBranch
// 6, TLeaf 1, TAttAxis 3, TAxis 5, TH1 2, TProfile 2, TGraph and its relatives 2, and TH2X and TH3X 1 follow ROOT's
// Streamer functions. The others follow the descriptions in files of their time.
constexpr std::string_view kTable = R"(
TTree 1: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Int_t fScanField, fMaxEntryLoop,
  fMaxVirtualSize; Double_t fEntries, fTotBytes, fZipBytes; Int_t fAutoSave, fEstimate; TObjArray fBranches,
  fLeaves;
TTree 2: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Int_t fScanField, fMaxEntryLoop,
  fMaxVirtualSize; Double_t fEntries, fTotBytes, fZipBytes; Int_t fAutoSave, fEstimate; TObjArray fBranches,
  fLeaves; TArrayD fIndexValues;
TTree 3: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Int_t fScanField, fMaxEntryLoop,
  fMaxVirtualSize; Double_t fEntries, fTotBytes, fZipBytes; Int_t fAutoSave, fEstimate; TObjArray fBranches,
  fLeaves; TArrayD fIndexValues; TArrayI fIndex;
TTree 4: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Int_t fScanField, fMaxEntryLoop,
  fMaxVirtualSize; Double_t fEntries, fTotBytes, fZipBytes; Int_t fAutoSave, fEstimate; TObjArray fBranches,
  fLeaves; TArrayD fIndexValues; TArrayI fIndex; TList fOldInfo;
TTree 5: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Double_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes; Int_t fTimerInterval, fScanField, fUpdate, fMaxEntryLoop, fMaxVirtualSize, fAutoSave,
  fEstimate; TObjArray fBranches, fLeaves; TArrayD fIndexValues; TArrayI fIndex;
TTree 8: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Double_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes, fWeight; Int_t fTimerInterval, fScanField, fUpdate, fMaxEntryLoop, fMaxVirtualSize,
  fAutoSave, fEstimate; TObjArray fBranches, fLeaves; TArrayD fIndexValues; TArrayI fIndex; TList* fFriends;
TTree 9: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Double_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes, fWeight; Int_t fTimerInterval, fScanField, fUpdate, fMaxEntryLoop, fMaxVirtualSize,
  fAutoSave, fEstimate; TObjArray fBranches, fLeaves; TArrayD fIndexValues; TArrayI fIndex; TList* fFriends;
TTree 10: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Double_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes, fWeight; Int_t fTimerInterval, fScanField, fUpdate, fMaxEntryLoop, fMaxVirtualSize,
  fAutoSave, fEstimate; TObjArray fBranches, fLeaves; TList* fAliases; TArrayD fIndexValues; TArrayI fIndex; TList*
  fFriends;
TTree 15: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Long64_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes; Double_t fWeight; Int_t fTimerInterval, fScanField, fUpdate; Long64_t fMaxEntries,
  fMaxEntryLoop, fMaxVirtualSize, fAutoSave, fEstimate; TObjArray fBranches, fLeaves; TList* fAliases; TArrayD
  fIndexValues; TArrayI fIndex; TVirtualIndex* fTreeIndex; TList* fFriends, fUserInfo; TBranchRef* fBranchRef;
TTree 16: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 2; Long64_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes; Double_t fWeight; Int_t fTimerInterval, fScanField, fUpdate; Long64_t fMaxEntries,
  fMaxEntryLoop, fMaxVirtualSize, fAutoSave, fEstimate; TObjArray fBranches, fLeaves; TList* fAliases; TArrayD
  fIndexValues; TArrayI fIndex; TVirtualIndex* fTreeIndex; TList* fFriends, fUserInfo; TBranchRef* fBranchRef;
TTree 17: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 2; Long64_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes; Double_t fWeight; Int_t fTimerInterval, fScanField, fUpdate, fDefaultEntryOffsetLen;
  Long64_t fMaxEntries, fMaxEntryLoop, fMaxVirtualSize, fAutoSave, fEstimate; TObjArray fBranches, fLeaves; TList*
  fAliases; TArrayD fIndexValues; TArrayI fIndex; TVirtualIndex* fTreeIndex; TList* fFriends, fUserInfo; TBranchRef*
  fBranchRef;
TTree 18: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 2; Long64_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes, fFlushedBytes; Double_t fWeight; Int_t fTimerInterval, fScanField, fUpdate,
  fDefaultEntryOffsetLen; Long64_t fMaxEntries, fMaxEntryLoop, fMaxVirtualSize, fAutoSave, fAutoFlush, fEstimate;
  TObjArray fBranches, fLeaves; TList* fAliases; TArrayD fIndexValues; TArrayI fIndex; TVirtualIndex* fTreeIndex;
  TList* fFriends, fUserInfo; TBranchRef* fBranchRef;
TTree 19: base TNamed 1; base TAttLine 2; base TAttFill 2; base TAttMarker 2; Long64_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes, fFlushedBytes; Double_t fWeight; Int_t fTimerInterval, fScanField, fUpdate,
  fDefaultEntryOffsetLen; counter fNClusterRange; Long64_t fMaxEntries, fMaxEntryLoop, fMaxVirtualSize, fAutoSave,
  fAutoFlush, fEstimate; Long64_t* fClusterRangeEnd[fNClusterRange], fClusterSize[fNClusterRange]; TObjArray
  fBranches, fLeaves; TList* fAliases; TArrayD fIndexValues; TArrayI fIndex; TVirtualIndex* fTreeIndex; TList*
  fFriends, fUserInfo; TBranchRef* fBranchRef;
TTree 20 #7264e07f: base TNamed 1; base TAttLine 2; base TAttFill 2; base TAttMarker 3; Long64_t fEntries, fTotBytes,
  fZipBytes, fSavedBytes, fFlushedBytes; Double_t fWeight; Int_t fTimerInterval, fScanField, fUpdate,
  fDefaultEntryOffsetLen; counter fNClusterRange; Long64_t fMaxEntries, fMaxEntryLoop, fMaxVirtualSize, fAutoSave,
  fAutoFlush, fEstimate; Long64_t* fClusterRangeEnd[fNClusterRange], fClusterSize[fNClusterRange]; ROOT::TIOFeatures
  fIOFeatures; TObjArray fBranches, fLeaves; TList* fAliases; TArrayD fIndexValues; TArrayI fIndex; TVirtualIndex*
  fTreeIndex; TList* fFriends, fUserInfo; TBranchRef* fBranchRef;
TNtuple 1: base TTree 4; Int_t fNvar;
TNtuple 2: base TTree 20; Int_t fNvar;
TNtupleD 1: base TTree 20; Int_t fNvar;
TChain 5: base TTree 20; counter fTreeOffsetLen; Int_t fNtrees; Long64_t* fTreeOffset[fTreeOffsetLen]; TObjArray*
  fFiles; TList* fStatus;
TBranch 6: base TNamed 1; Int_t fCompress, fBasketSize, fEntryOffsetLen, fWriteBasket, fEntryNumber, fOffset;
  counter fMaxBaskets; Double_t fEntries, fTotBytes, fZipBytes; TObjArray fBranches, fLeaves, fBaskets; Int_t*
  fBasketBytes[fMaxBaskets], fBasketEntry[fMaxBaskets], fBasketSeek[fMaxBaskets]; TString fFileName;
TBranch 7: base TNamed 1; Int_t fCompress, fBasketSize, fEntryOffsetLen, fWriteBasket, fEntryNumber, fOffset;
  counter fMaxBaskets; Int_t fSplitLevel; Double_t fEntries, fTotBytes, fZipBytes; TObjArray fBranches, fLeaves,
  fBaskets; Int_t* fBasketBytes[fMaxBaskets], fBasketEntry[fMaxBaskets], fBasketSeek[fMaxBaskets]; TString
  fFileName;
TBranch 8: base TNamed 1; base TAttFill 1; Int_t fCompress, fBasketSize, fEntryOffsetLen, fWriteBasket,
  fEntryNumber, fOffset; counter fMaxBaskets; Int_t fSplitLevel; Double_t fEntries, fTotBytes, fZipBytes; TObjArray
  fBranches, fLeaves, fBaskets; Int_t* fBasketBytes[fMaxBaskets], fBasketEntry[fMaxBaskets],
  fBasketSeek[fMaxBaskets]; TString fFileName;
TBranch 9: base TNamed 1; base TAttFill 1; Int_t fCompress, fBasketSize, fEntryOffsetLen, fWriteBasket,
  fEntryNumber, fOffset; counter fMaxBaskets; Int_t fSplitLevel; Double_t fEntries, fTotBytes, fZipBytes; TObjArray
  fBranches, fLeaves, fBaskets; Int_t* fBasketBytes[fMaxBaskets], fBasketEntry[fMaxBaskets],
  fBasketSeek[fMaxBaskets]; TString fFileName;
TBranch 10: base TNamed 1; base TAttFill 1; Int_t fCompress, fBasketSize, fEntryOffsetLen, fWriteBasket; Long64_t
  fEntryNumber; Int_t fOffset; counter fMaxBaskets; Int_t fSplitLevel; Long64_t fEntries, fTotBytes, fZipBytes;
  TObjArray fBranches, fLeaves, fBaskets; Int_t* fBasketBytes[fMaxBaskets]; Long64_t* fBasketEntry[fMaxBaskets],
  fBasketSeek[fMaxBaskets]; TString fFileName;
TBranch 11: base TNamed 1; base TAttFill 1; Int_t fCompress, fBasketSize, fEntryOffsetLen, fWriteBasket; Long64_t
  fEntryNumber; Int_t fOffset; counter fMaxBaskets; Int_t fSplitLevel; Long64_t fEntries, fFirstEntry, fTotBytes,
  fZipBytes; TObjArray fBranches, fLeaves, fBaskets; Int_t* fBasketBytes[fMaxBaskets]; Long64_t*
  fBasketEntry[fMaxBaskets], fBasketSeek[fMaxBaskets]; TString fFileName;
TBranch 12: base TNamed 1; base TAttFill 2; Int_t fCompress, fBasketSize, fEntryOffsetLen, fWriteBasket; Long64_t
  fEntryNumber; Int_t fOffset; counter fMaxBaskets; Int_t fSplitLevel; Long64_t fEntries, fFirstEntry, fTotBytes,
  fZipBytes; TObjArray fBranches, fLeaves, fBaskets; Int_t* fBasketBytes[fMaxBaskets]; Long64_t*
  fBasketEntry[fMaxBaskets], fBasketSeek[fMaxBaskets]; TString fFileName;
TBranch 13 #10978aac: base TNamed 1; base TAttFill 2; Int_t fCompress, fBasketSize, fEntryOffsetLen, fWriteBasket;
  Long64_t fEntryNumber; ROOT::TIOFeatures fIOFeatures; Int_t fOffset; counter fMaxBaskets; Int_t fSplitLevel; Long64_t
  fEntries, fFirstEntry, fTotBytes, fZipBytes; TObjArray fBranches, fLeaves, fBaskets; Int_t*
  fBasketBytes[fMaxBaskets]; Long64_t* fBasketEntry[fMaxBaskets], fBasketSeek[fMaxBaskets]; TString fFileName;
TBranchElement 1: base TBranch 8; TString fClassName; Int_t fClassVersion, fID, fType, fStreamerType;
TBranchElement 7: base TBranch 7; TString fClassName, fParentName, fClonesName; Int_t fClassVersion, fID, fType,
  fStreamerType, fMaximum; TBranchElement* fBranchCount, fBranchCount2;
TBranchElement 8: base TBranch 10; TString fClassName, fParentName, fClonesName; UInt_t fCheckSum; Int_t
  fClassVersion, fID, fType, fStreamerType, fMaximum; TBranchElement* fBranchCount, fBranchCount2;
TBranchElement 9: base TBranch 12; TString fClassName, fParentName, fClonesName; UInt_t fCheckSum; Int_t
  fClassVersion, fID, fType, fStreamerType, fMaximum; TBranchElement* fBranchCount, fBranchCount2;
TBranchElement 10 #e74f5e63: base TBranch 13; TString fClassName, fParentName, fClonesName; UInt_t fCheckSum; Short_t
  fClassVersion; Int_t fID, fType, fStreamerType, fMaximum; TBranchElement* fBranchCount, fBranchCount2;
TBranchObject 1: base TBranch 8; TString fClassName;
TBranchRef 1 #2360b3fd: base TBranch 13; TRefTable* fRefTable;
TBranchSTL 1: base TBranch 13; TString fContName, fClassName; Int_t fClassVersion; UInt_t fClCheckSum; Int_t fID;
TLeaf 1: base TNamed 1; Int_t fLen, fLenType, fOffset; Bool_t fIsRange, fIsUnsigned; TLeaf* fLeafCount;
TLeaf 2 #6d1e8152: base TNamed 1; Int_t fLen, fLenType, fOffset; Bool_t fIsRange, fIsUnsigned; TLeaf* fLeafCount;
TLeafB 1 #0f1e4b5e: base TLeaf 2; Char_t fMinimum, fMaximum;
TLeafS 1 #150ceecf: base TLeaf 2; Short_t fMinimum, fMaximum;
TLeafI 1 #7e6aae19: base TLeaf 2; Int_t fMinimum, fMaximum;
TLeafL 1 #de320862: base TLeaf 2; Long64_t fMinimum, fMaximum;
TLeafG 1 #eca71cb7: base TLeaf 2; Long_t fMinimum, fMaximum;
TLeafF 1 #3add9d72: base TLeaf 2; Float_t fMinimum, fMaximum;
TLeafD 1 #118e8776: base TLeaf 2; Double_t fMinimum, fMaximum;
TLeafF16 1: base TLeaf 2; Float16_t fMinimum, fMaximum;
TLeafD32 1: base TLeaf 2; Double32_t fMinimum, fMaximum;
TLeafO 1 #02ae48d3: base TLeaf 2; Bool_t fMinimum, fMaximum;
TLeafC 1 #fbe3b2f3: base TLeaf 2; Int_t fMinimum, fMaximum;
TLeafElement 1 #a04f8893: base TLeaf 2; Int_t fID, fType;
TLeafObject 1: base TLeaf 1;
TLeafObject 2: base TLeaf 2;
TLeafObject 3: base TLeaf 2; Bool_t fVirtual;
TLeafObject 4: base TLeaf 2; Bool_t fVirtual;
TObject 1 #901bc02d: UInt_t fUniqueID, fBits;
TNamed 1 #dfb74a3c: base TObject 1; TString fName, fTitle;
TString 1: char* fData;
TString 2 #00017419:
TAttLine 1: Short_t fLineColor, fLineStyle, fLineWidth;
TAttLine 2 #94074549: Short_t fLineColor, fLineStyle, fLineWidth;
TAttFill 1: Short_t fFillColor, fFillStyle;
TAttFill 2 #ffd92a92: Short_t fFillColor, fFillStyle;
TAttMarker 1: Short_t fMarkerColor, fMarkerStyle; Float_t fMarkerSize;
TAttMarker 2: Short_t fMarkerColor, fMarkerStyle; Float_t fMarkerSize;
TAttMarker 3 #291d8bec: Short_t fMarkerColor, fMarkerStyle; Float_t fMarkerSize;
TAtt3D 1 #0000757a:
TCollection 3 #57e3cb9c: base TObject 1; TString fName; Int_t fSize;
TSeqCollection 0 #fc6c3bc6: base TCollection 3;
TList 4: base TSeqCollection 0;
TList 5 #69c5c3bb: base TSeqCollection 0;
THashList 0 #cc7e49c1: base TList 5;
TObjArray 3 #a99e6552: base TSeqCollection 0; Int_t fLowerBound, fLast;
TClonesArray 4: base TObjArray 3;
TArray 1: counter fN;
TArrayC 1: base TArray 1; Char_t* fArray[fN];
TArrayS 1: base TArray 1; Short_t* fArray[fN];
TArrayI 1: base TArray 1; Int_t* fArray[fN];
TArrayL 1: base TArray 1; Long_t* fArray[fN];
TArrayL64 1: base TArray 1; Long64_t* fArray[fN];
TArrayF 1: base TArray 1; Float_t* fArray[fN];
TArrayD 1: base TArray 1; Double_t* fArray[fN];
ROOT::TIOFeatures 1 #1aa12f10: UChar_t fIOBits;
ROOT::RNTuple 2 #28e632ec: UShort_t fVersionEpoch, fVersionMajor, fVersionMinor, fVersionPatch; ULong_t fSeekHeader,
  fNBytesHeader, fLenHeader, fSeekFooter, fNBytesFooter, fLenFooter, fMaxKeySize;
TRefTable 2: base TObject 1; counter fSize; Int_t fN; Int_t* fParentIDs[fSize]; Int_t fParentID; TObjArray*
  fParents; TObject* fOwner;
TRefTable 3 #8c895b85: base TObject 1; Int_t fSize; TObjArray* fParents; TObject* fOwner; vector<string> fProcessGUIDs;
TVirtualIndex 1: base TNamed 1;
TObjString 1 #9c8e4800: base TObject 1; TString fString;
TRef 1: base TObject 1;
TRefArray 1: base TSeqCollection 0; TProcessID* fPID; UInt_t* fUIDs[fSize]; Int_t fLowerBound, fLast;
TProcessID 1: base TNamed 1;
TUUID 1: UInt_t fTimeLow; UShort_t fTimeMid, fTimeHiAndVersion; UChar_t fClockSeqHiAndReserved, fClockSeqLow,
  fNode[6];
TDatime 1: UInt_t fDatime;
TTimeStamp 1: Int_t fSec, fNanoSec;
TBits 1: base TObject 1; UInt_t fNbits, fNbytes; UChar_t* fAllBits[fNbytes];
TVector2 3: base TObject 1; Double_t fX, fY;
TVector3 3: base TObject 1; Double_t fX, fY, fZ;
TLorentzVector 4: base TObject 1; TVector3 fP; Double_t fE;
TRotation 1: base TObject 1; Double_t fxx, fxy, fxz, fyx, fyy, fyz, fzx, fzy, fzz;
TParticle 2: base TObject 1; base TAttLine 2; base TAtt3D 1; Int_t fPdgCode, fStatusCode, fMother[2], fDaughter[2];
  Float_t fWeight; Double_t fCalcMass, fPx, fPy, fPz, fE, fVx, fVy, fVz, fVt, fPolarTheta, fPolarPhi;
TAttAxis 1: Int_t fNdivisions; Short_t fAxisColor, fLabelColor, fLabelFont; Float_t fLabelOffset, fLabelSize,
  fTickLength, fTitleOffset;
TAttAxis 2: Int_t fNdivisions; Short_t fAxisColor, fLabelColor, fLabelFont; Float_t fLabelOffset, fLabelSize,
  fTickLength, fTitleOffset, fTitleSize;
TAttAxis 3: Int_t fNdivisions; Short_t fAxisColor, fLabelColor, fLabelFont; Float_t fLabelOffset, fLabelSize,
  fTickLength, fTitleOffset, fTitleSize; Short_t fTitleColor, fTitleFont;
TAttAxis 4 #5c6fff3e: Int_t fNdivisions; Short_t fAxisColor, fLabelColor, fLabelFont; Float_t fLabelOffset, fLabelSize,
  fTickLength, fTitleOffset, fTitleSize; Short_t fTitleColor, fTitleFont;
TAttText 2: Float_t fTextAngle, fTextSize; Short_t fTextAlign, fTextColor, fTextFont;
TAttPad 4: Float_t fLeftMargin, fRightMargin, fBottomMargin, fTopMargin, fXfile, fYfile, fAfile, fXstat, fYstat,
  fAstat; Short_t fFrameFillColor, fFrameLineColor, fFrameFillStyle, fFrameLineStyle, fFrameLineWidth,
  fFrameBorderSize; Int_t fFrameBorderMode;
TAttCanvas 1: Float_t fXBetween, fYBetween, fTitleFromTop, fXdate, fYdate, fAdate;
TAxis 1: base TNamed 1; base TAttAxis 1; Int_t fNbins; Float_t fXmin, fXmax; TArrayF fXbins;
TAxis 2: base TNamed 1; base TAttAxis 1; Int_t fNbins; Float_t fXmin, fXmax; TArrayF fXbins;
TAxis 3: base TNamed 1; base TAttAxis 2; Int_t fNbins; Float_t fXmin, fXmax; TArrayF fXbins; Int_t fFirst, fLast;
TAxis 4: base TNamed 1; base TAttAxis 3; Int_t fNbins; Float_t fXmin, fXmax; TArrayF fXbins; Int_t fFirst, fLast;
  Bool_t fTimeDisplay; TString fTimeFormat;
TAxis 5: base TNamed 1; base TAttAxis 3; Int_t fNbins; Double_t fXmin, fXmax; TArrayD fXbins; Int_t fFirst, fLast;
  Bool_t fTimeDisplay; TString fTimeFormat;
TAxis 10 #5a496e70: base TNamed 1; base TAttAxis 4; Int_t fNbins; Double_t fXmin, fXmax; TArrayD fXbins; Int_t fFirst,
  fLast; UShort_t fBits2; Bool_t fTimeDisplay; TString fTimeFormat; THashList* fLabels; TList* fModLabs;
TH1 1: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Int_t fNcells; TAxis fXaxis, fYaxis,
  fZaxis; Short_t fBarOffset, fBarWidth; Double_t fEntries, fTsumw, fTsumw2, fTsumwx, fTsumwx2; Float_t fMaximum,
  fMinimum, fNormFactor; TArrayF fContour; TArrayD fSumw2; TString fOption; TList-> fFunctions;
TH1 2: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; Int_t fNcells; TAxis fXaxis, fYaxis,
  fZaxis; Short_t fBarOffset, fBarWidth; Double_t fEntries, fTsumw, fTsumw2, fTsumwx, fTsumwx2, fMaximum, fMinimum,
  fNormFactor; TArrayD fContour, fSumw2; TString fOption; TList-> fFunctions;
TH1 8 #1c3740c4: base TNamed 1; base TAttLine 2; base TAttFill 2; base TAttMarker 3; Int_t fNcells; TAxis fXaxis,
  fYaxis, fZaxis; Short_t fBarOffset, fBarWidth; Double_t fEntries, fTsumw, fTsumw2, fTsumwx, fTsumwx2, fMaximum,
  fMinimum, fNormFactor; TArrayD fContour, fSumw2; TString fOption; TList-> fFunctions; counter fBufferSize; Double_t*
  fBuffer[fBufferSize]; Int_t fBinStatErrOpt, fStatOverflows;
TH1C 3 #36f6e4ad: base TH1 8; base TArrayC 1;
TH1S 3 #8c4d9dcb: base TH1 8; base TArrayS 1;
TH1I 3 #627564f6: base TH1 8; base TArrayI 1;
TH1F 3 #e2939644: base TH1 8; base TArrayF 1;
TH1D 3 #f9b1569f: base TH1 8; base TArrayD 1;
TH2 5 #0182347f: base TH1 8; Double_t fScalefactor, fTsumwy, fTsumwy2, fTsumwxy;
TH2~ 1: Double_t fScalefactor, fTsumwy, fTsumwy2, fTsumwxy;
TH2C 1: base TH1C 1; base TH2~ 1;
TH2S 1: base TH1S 1; base TH2~ 1;
TH2F 1: base TH1F 1; base TH2~ 1;
TH2D 1: base TH1D 1; base TH2~ 1;
TH2C 4 #bd0010fe: base TH2 5; base TArrayC 1;
TH2S 4 #1256ca1c: base TH2 5; base TArrayS 1;
TH2I 4 #e87e9147: base TH2 5; base TArrayI 1;
TH2F 4 #689cc295: base TH2 5; base TArrayF 1;
TH2D 4 #7fba82f0: base TH2 5; base TArrayD 1;
TH3 6 #42d2445f: base TH1 8; base TAtt3D 1; Double_t fTsumwy, fTsumwy2, fTsumwxy, fTsumwz, fTsumwz2, fTsumwxz, fTsumwyz;
TH3~ 1: base TAtt3D 1;
TH3 2: base TH1 2; base TAtt3D 1;
TH3C 1: base TH1C 1; base TH3~ 1;
TH3S 1: base TH1S 1; base TH3~ 1;
TH3F 1: base TH1F 1; base TH3~ 1;
TH3D 1: base TH1D 1; base TH3~ 1;
TH3C 4 #a1ff8d94: base TH3 6; base TArrayC 1;
TH3S 4 #f75646b2: base TH3 6; base TArrayS 1;
TH3I 4 #cd7e0ddd: base TH3 6; base TArrayI 1;
TH3F 4 #4d9c3f2b: base TH3 6; base TArrayF 1;
TH3D 4 #64b9ff86: base TH3 6; base TArrayD 1;
TProfile 1: base TH1D 1; TArrayD fBinEntries; Int_t fErrorMode; Float_t fYmin, fYmax;
TProfile 2: base TH1D 1; TArrayD fBinEntries; Int_t fErrorMode; Double_t fYmin, fYmax;
TProfile 7 #4bedee54: base TH1D 3; TArrayD fBinEntries; Int_t fErrorMode; Double_t fYmin, fYmax, fTsumwy, fTsumwy2;
  TArrayD fBinSumw2;
TProfile2D 8 #36a142ac: base TH2D 4; TArrayD fBinEntries; Int_t fErrorMode; Double_t fZmin, fZmax, fTsumwz, fTsumwz2;
  TArrayD fBinSumw2;
TProfile3D 8 #f60c6814: base TH3D 4; TArrayD fBinEntries; Int_t fErrorMode; Double_t fTmin, fTmax, fTsumwt, fTsumwt2;
  TArrayD fBinSumw2;
TGraph 1: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; counter fNpoints; Float_t& fX[fNpoints],
  fY[fNpoints]; TList* fFunctions; TH1F* fHistogram; Float_t fMinimum, fMaximum;
TGraph 2: base TNamed 1; base TAttLine 1; base TAttFill 1; base TAttMarker 1; counter fNpoints; Double_t& fX[fNpoints],
  fY[fNpoints]; TList* fFunctions; TH1F* fHistogram; Double_t fMinimum, fMaximum;
TGraph 5 #b932984f: base TNamed 1; base TAttLine 2; base TAttFill 2; base TAttMarker 3; counter fNpoints; Double_t*
  fX[fNpoints], fY[fNpoints]; TList* fFunctions; TH1F* fHistogram; Double_t fMinimum, fMaximum; TString fOption;
TGraphErrors 1: base TGraph 1; Float_t& fEX[fNpoints], fEY[fNpoints];
TGraphErrors 2: base TGraph 2; Double_t& fEX[fNpoints], fEY[fNpoints];
TGraphErrors 3 #bdadb119: base TGraph 5; Double_t* fEX[fNpoints], fEY[fNpoints];
TGraphAsymmErrors 1: base TGraph 1; Float_t& fEXlow[fNpoints], fEYlow[fNpoints], fEXhigh[fNpoints],
  fEYhigh[fNpoints];
TGraphAsymmErrors 2: base TGraph 2; Double_t& fEXlow[fNpoints], fEYlow[fNpoints], fEXhigh[fNpoints],
  fEYhigh[fNpoints];
TGraphAsymmErrors 3 #206d5315: base TGraph 5; Double_t* fEXlow[fNpoints], fEXhigh[fNpoints], fEYlow[fNpoints],
  fEYhigh[fNpoints];
TEfficiency 2: base TNamed 1; base TAttLine 2; base TAttFill 2; base TAttMarker 3; Double_t fBeta_alpha, fBeta_beta;
  vector<pair<double,double>> fBeta_bin_params; Double_t fConfLevel; TList-> fFunctions; TH1* fPassedHistogram; Int_t
  fStatisticOption; TH1* fTotalHistogram; Double_t fWeight;
TMacro 1: base TNamed 1; TList* fLines; TString fParams;
TTime 2: Long64_t fMilliSec;
TQObject 1:
TVirtualPad~ 3: base TObject 1; base TAttLine 2; base TAttFill 2; base TAttPad 4;
TAttBBox2D 0:
TPad 13: base TVirtualPad 3; base TAttBBox2D 0; Double_t fX1, fY1, fX2, fY2, fXtoAbsPixelk, fXtoPixelk, fXtoPixel,
  fYtoAbsPixelk, fYtoPixelk, fYtoPixel, fUtoAbsPixelk, fUtoPixelk, fUtoPixel, fVtoAbsPixelk, fVtoPixelk, fVtoPixel,
  fAbsPixeltoXk, fPixeltoXk, fPixeltoX, fAbsPixeltoYk, fPixeltoYk, fPixeltoY, fXlowNDC, fYlowNDC, fXUpNDC, fYUpNDC,
  fWNDC, fHNDC, fAbsXlowNDC, fAbsYlowNDC, fAbsWNDC, fAbsHNDC, fUxmin, fUymin, fUxmax, fUymax, fTheta, fPhi,
  fAspectRatio; Int_t fNumber, fTickx, fTicky, fLogx, fLogy, fLogz, fPadPaint, fCrosshair, fCrosshairPos; Short_t
  fBorderSize, fBorderMode; Bool_t fModified, fGridx, fGridy, fAbsCoord, fEditable, fFixedAspectRatio; TList->
  fPrimitives; TList* fExecs; TString fName, fTitle; Int_t fNumPaletteColor, fNextPaletteColor;
TCanvas~ 8: base TPad 13; TString fDISPLAY; Int_t fDoubleBuffer; Bool_t fRetained; Float_t fXsizeUser, fYsizeUser,
  fXsizeReal, fYsizeReal; Int_t fWindowTopX, fWindowTopY; UInt_t fWindowWidth, fWindowHeight, fCw, fCh; TAttCanvas
  fCatt; Bool_t kMoveOpaque, kResizeOpaque; Short_t fHighLightColor; Bool_t fBatch, kShowEventStatus,
  kAutoExec, kMenuBar;
RooRefArray 1: TRefArray fRefs;
RooAbsBinning 2: base TNamed 1; base RooPrintable 1;
RooRealVar~ 2: base RooAbsRealLValue 1; Double_t _error, _asymErrLo, _asymErrHi; RooAbsBinning* _binning;
RooRealVar~ 3: base RooAbsRealLValue 1; Double_t _error, _asymErrLo, _asymErrHi; RooAbsBinning* _binning;
  RooRealVarSharedProperties* _sharedProp;
RooRealVar~ 4: base RooAbsRealLValue 1; Double_t _error, _asymErrLo, _asymErrHi; RooAbsBinning* _binning;
  RooRealVarSharedProperties _sharedProp;
TMatrixTBase<double> 5: base TObject 1; Int_t fNrows, fNcols, fRowLwb, fColLwb, fNelems, fNrowIndex; Double_t fTol;
TMatrixTSym<double> 2: base TMatrixTBase<double> 5; Double_t* fElements[fNelems];
TMatrixT<double> 4: base TMatrixTBase<double> 5; Double_t* fElements[fNelems];
TVectorT<double> 4: base TObject 1; counter fNrows; Int_t fRowLwb; Double_t* fElements[fNrows];
TMatrixTBase<float> 5: base TObject 1; Int_t fNrows, fNcols, fRowLwb, fColLwb, fNelems, fNrowIndex; Float_t fTol;
TMatrixTSym<float> 2: base TMatrixTBase<float> 5; Float_t* fElements[fNelems];
TMatrixT<float> 4: base TMatrixTBase<float> 5; Float_t* fElements[fNelems];
TVectorT<float> 4: base TObject 1; counter fNrows; Int_t fRowLwb; Float_t* fElements[fNrows];
TParameter<int> 2: base TObject 1; TString fName; Int_t fVal;
TParameter<double> 2: base TObject 1; TString fName; Double_t fVal;
TParameter<float> 2: base TObject 1; TString fName; Float_t fVal;
TParameter<Long64_t> 2: base TObject 1; TString fName; Long64_t fVal;
TF1 12: base TNamed 1; base TAttLine 2; base TAttFill 2; base TAttMarker 3; Double_t fXmin, fXmax; Int_t fNpar, fNdim,
  fNpx, fType, fNpfits, fNDF; Double_t fChisquare, fMinimum, fMaximum; vector<double> fParErrors, fParMin, fParMax,
  fSave; Bool_t fNormalized; Double_t fNormIntegral; TFormula* fFormula; TF1Parameters* fParams; TF1AbsComposition*
  fComposition;
TF1 7: base TFormula 8; base TAttLine 1; base TAttFill 1; base TAttMarker 2; Double_t fXmin, fXmax; Int_t fNpx, fType,
  fNpfits, fNDF; counter fNsave; Double_t fChisquare; Double_t* fParErrors[fNpar], fParMin[fNpar], fParMax[fNpar],
  fSave[fNsave]; Double_t fMaximum, fMinimum;
TFormula 8: base TNamed 1; Int_t fNdim; counter fNpar, fNoper, fNconst; Int_t fNumber, fNval, fNstring; TString*
  fExpr[fNoper]; Int_t* fOper[fNoper]; Double_t* fConst[fNconst], fParams[fNpar]; TString* fNames[fNpar]; TObjArray
  fFunctions, fLinearParts;
TFormula 14: base TNamed 1; vector<double> fClingParameters; Bool_t fAllParametersSetted;
  map<TString,int,TFormulaParamOrder> fParams; TString fFormula; Int_t fNdim, fNumber; vector<TObject*> fLinearParts;
  Bool_t fVectorized;
TF1Parameters 1: vector<double> fParameters; vector<string> fParNames;
TBox 3: base TObject 1; base TAttLine 2; base TAttFill 2; Double_t fX1, fY1, fX2, fY2;
TWbox 1: base TBox 3; Short_t fBorderSize, fBorderMode;
TFrame 1: base TWbox 1;
TLine 3: base TObject 1; base TAttLine 2; Double_t fX1, fY1, fX2, fY2;
TText 3: base TNamed 1; base TAttText 2; Double_t fX, fY;
TLatex 2: base TText 3; base TAttLine 2; Int_t fLimitFactorSize; Double_t fOriginSize;
TPave 3: base TBox 3; Double_t fX1NDC, fY1NDC, fX2NDC, fY2NDC; Int_t fBorderSize, fInit, fShadowColor; Double_t
  fCornerRadius; TString fOption, fName;
TPaveText 2: base TPave 3; base TAttText 2; TString fLabel; Int_t fLongest; Float_t fMargin; TList* fLines;
TPaveStats 5: base TPaveText 2; Int_t fOptFit, fOptStat; TString fFitFormat, fStatFormat;
  TObject* fParent;
)";

// Classes stored by value that derive from TObject; StreamerInfo marks them differently.
constexpr std::string_view kTObjects[] = {"TObjArray", "TList", "TVector3", "TAxis"};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// Cuts `text` after the first `separator` (all of it if there is none) and returns the part before it.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view head = trimmed(text.substr(0, at));
  text.remove_prefix(std::min(at + 1, text.size()));
  return head;
}

int number(std::string_view digits, int base = 10) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return static_cast<int>(value);
}

StreamerElement base_element(std::string_view class_and_version) {
  StreamerElement element;
  element.kind = ElementKind::base;
  element.name = cut(class_and_version, ' ');
  element.type_name = "BASE";
  element.type = element.name == "TObject"  ? element_type::kTObject
                 : element.name == "TNamed" ? element_type::kTNamed
                                            : element_type::kBase;
  element.base_version = number(trimmed(class_and_version));
  return element;
}

void set_counter(StreamerElement& element, std::string_view counter, const StreamerInfo& info) {
  element.title = '[' + std::string(counter) + ']';
  element.count_name = counter;
  element.count_class = info.class_name;
  element.count_version = info.version;
}

// `mark`: '*' or '&' after the type, or 0.
StreamerElement basic_element(const BasicType& type, char mark, std::string_view name, const StreamerInfo& info) {
  StreamerElement element;
  element.kind = ElementKind::basic;
  element.name = cut(name, '[');
  const std::string_view length = cut(name, ']');
  element.type = type.code;
  element.size = static_cast<std::int32_t>(size_of(type.dtype));
  element.type_name = type.described;
  if (mark != 0) {
    element.kind = ElementKind::basic_pointer;
    element.has_flag = mark == '*';
    element.type += element_type::kOffsetPointer;
    element.type_name += '*';
    set_counter(element, length, info);
  } else if (!length.empty()) {
    element.type += element_type::kOffsetArray;
    element.array_length = number(length);
    element.array_dim = 1;
    element.max_index[0] = element.array_length;
    element.size *= element.array_length;
  }
  return element;
}

StreamerElement class_element(std::string_view type, bool pointer, std::string_view name, const StreamerInfo& info) {
  StreamerElement element;
  const bool in_place = type.ends_with("->");
  if (in_place) type.remove_suffix(2);
  element.name = cut(name, '[');
  element.type_name = type;
  if (const std::string_view counter = cut(name, ']'); !counter.empty()) {
    element.kind = ElementKind::loop;
    element.type = element_type::kStreamLoop;
    set_counter(element, counter, info);
  } else if (type == "char" && pointer) {
    element.kind = ElementKind::basic;
    element.type = element_type::kCharStar;
  } else if (pointer || in_place) {
    element.kind = ElementKind::object_pointer;
    element.type = in_place ? element_type::kObjectp : element_type::kObjectP;
  } else if (type == "TString") {
    element.kind = ElementKind::string;
    element.type = element_type::kTString;
  } else if (type.starts_with("vector<") || type.starts_with("map<")) {
    element.kind = ElementKind::stl;
    element.type = element_type::kStreamer;
    element.stl_type = 1;
    element.stl_content = element_type::kObject;
  } else if (std::ranges::find(kTObjects, type) != std::end(kTObjects)) {
    element.kind = ElementKind::object;
    element.type = element_type::kObject;
  } else {
    element.kind = ElementKind::object_any;
    element.type = element_type::kAny;
  }
  if (pointer || in_place) element.type_name += '*';
  return element;
}

// Parses `type a, b`.
void add_declaration(std::string_view declaration, StreamerInfo& info) {
  std::string_view type = cut(declaration, ' ');
  if (type == "base") {
    info.elements.push_back(base_element(declaration));
    return;
  }
  const char mark = type.ends_with('*') || type.ends_with('&') ? type.back() : '\0';
  if (mark != 0) type.remove_suffix(1);
  static constexpr BasicType kCounter{element_type::kCounter, Dtype::i4, "counter", "int", "int"};
  const BasicType* basic = type == kCounter.root_name ? &kCounter : basic_type_of_root(type);
  while (!declaration.empty()) {
    const std::string_view name = cut(declaration, ',');
    info.elements.push_back(basic ? basic_element(*basic, mark, name, info)
                                  : class_element(type, mark != 0, name, info));
  }
}

// Parses `Class version #checksum: declarations`.
StreamerInfo parse_entry(std::string_view entry) {
  StreamerInfo info;
  info.class_name = cut(entry, ' ');
  std::string_view head = cut(entry, ':');
  info.version = number(cut(head, ' '));
  if (head.starts_with('#')) info.checksum = static_cast<std::uint32_t>(number(head.substr(1), 16));
  while (!trimmed(entry).empty()) add_declaration(cut(entry, ';'), info);
  return info;
}

std::vector<StreamerInfo> parse_table() {
  std::vector<StreamerInfo> infos;
  std::string_view rest = trimmed(kTable);
  while (!rest.empty()) {
    std::size_t end = rest.find('\n');
    while (end != std::string_view::npos && end + 1 < rest.size() && rest[end + 1] == ' ')
      end = rest.find('\n', end + 1);
    end = std::min(end, rest.size());
    infos.push_back(parse_entry(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return infos;
}

}  // namespace

const std::vector<StreamerInfo>& builtin_streamer_infos() {
  static const std::vector<StreamerInfo> infos = parse_table();
  return infos;
}

}  // namespace tfile
