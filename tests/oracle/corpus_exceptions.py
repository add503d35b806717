# SPDX-License-Identifier: Apache-2.0
"""Branches of the corpus of real files that differ from its reference although the mount is right.

Each is proved by test_corpus_exceptions.py in the way that its `proof` names:
    Draw(expression)   ROOT's TTree::Draw of expression.FIELD gives the mount's values, in lists of the mount's lengths
    Leaf(name)         the same by TBranch::GetEntry and TLeaf::GetValue, if Draw does not know that a leaf is counted
    Bits()             fBits decoded by hand from the baskets; ROOT (which changes bits on reading) gives their number
    Strings(expr.)     strings decoded by hand from the baskets; ROOT gives their lengths
    Objects(expr., n)  the reference has the mount's bytes, in a list of constant length 1 around n objects per entry
                       that is not in the file; ROOT counts n per entry
    Arrays(n, size)    the same; the n counted arrays of an entry, with items of `size` bytes, are decoded by hand
    Bitset(n)          the reference has the mount's bytes as lists, the mount (docs/semantics/layout.md) as a shape of n: all
                       bitsets of a type have n bits, which is checked by hand
    References()       TRefArrays decoded by hand
    Alternatives()     the reference has the mount's bytes; the checker expects lists to count the items of alternatives
    Counter(field)     the reference has the same bytes as unsigned numbers; in ROOT the member is an Int_t
    Retyped(type)      the reference has the same numbers in another type than that of the field, `type` in ROOT
    Records(fields)    vectors of records without headers of their own, decoded by hand: `fields` is a numpy dtype, `_`
                       marks bytes that are not members
"""

from collections import namedtuple

Draw = namedtuple("Draw", "expression")
Leaf = namedtuple("Leaf", "name")
Bits = namedtuple("Bits", "expression")
Strings = namedtuple("Strings", "expression")
Objects = namedtuple("Objects", "expression count")
Arrays = namedtuple("Arrays", "count size")
Bitset = namedtuple("Bitset", "length")
References = namedtuple("References", "")
Records = namedtuple("Records", "fields")
Counter = namedtuple("Counter", "field")
Retyped = namedtuple("Retyped", "type")
Alternatives = namedtuple("Alternatives", "")

Listed = namedtuple("Listed", "file table branch reason proof")

PACKED_LEAF = "uproot reads counted Double32_t and Float16_t of a range without bounds with items of a wrong size"
PACKED_MEMBER = "uproot reads fixed arrays of Double32_t in a TClonesArray as other numbers, in lists of other lengths"
PROCESS_ID = "uproot takes the two bytes behind the fBits of a referenced object for data"
FIRST_STRING = "uproot takes the first string of each entry alone"
MEMBER_WISE = "uproot reads items that are stored member by member as if item by item"
FRAME = "uproot takes the object's header for data"
LEVEL = "the reference has a list of constant length 1 around the array of objects"
SIGNED = "uproot shows the unsigned numbers of referenced objects as signed ones"
COUNTER = "uproot shows the counters of `//[n]` arrays, which are Int_t, as unsigned numbers"
HEADER_IN_ITEM = "uproot takes the header of an item's second base for its data"
ARRAY_OF_OBJECTS = "uproot reads the first of an array of objects alone, and the rest of it as the next items"
VARIANT = "the items of an alternative are those of all variants, and not counted by the lists around these"
CARDINALITY = "uproot shows the 32-bit sizes of collections as 64-bit numbers"
CHARACTER = "uproot shows char, which ROOT shows as a signed number, as an unsigned one"
BITSET = "a bitset is a shape in the mount, a list in the reference"

DAQ_HEADER = "KM3NETDAQ::JDAQTimeslice/KM3NETDAQ::JDAQTimesliceHeader/KM3NETDAQ::JDAQHeader/KM3NETDAQ::JDAQChronometer"
MUPAGE = "km3net-mcv8.1.mupage_tuned_100G.sirene.jterbr00013288.10"
PARTICLES = "fParticles"

NANOAOD = "skhep-cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1"
PHYSLITE = "skhep-physlite-rntuple_v1-0-0-0"
SIZES = """
    nCorrT1METJet nElectron nFatJet nFsrPhoton nGenDressedLepton nGenIsolatedPhoton nGenJet nGenJetAK8 nGenPart
    nGenVisTau nJet nLHEPart nLHEPdfWeight nLHEReweightingWeight nLHEScaleWeight nMuon nOtherPV nPSWeight nPhoton
    nSV nSoftActivityJet nTau
""".split()
CHARACTERS = """
    xTrigDecisionAux: METAssoc_AnalysisMETAux: AnalysisJetsAuxDyn:isJvtHS
    AnalysisJetsAuxDyn:DFCommonJets_jetClean_LooseBad AnalysisJetsAuxDyn:DFCommonJets_jetClean_TightBad
    AnalysisJetsAuxDyn:NNJvtPass AnalysisMuonsAuxDyn:DFCommonMuonPassIDCuts
    AnalysisMuonsAuxDyn:DFCommonMuonPassPreselection AnalysisTauJetsAuxDyn:EleRNNLoose_v1
    AnalysisTauJetsAuxDyn:EleRNNMedium_v1 AnalysisTauJetsAuxDyn:EleRNNTight_v1 AnalysisTauJetsAuxDyn:GNTauVL_v0prune
    AnalysisTauJetsAuxDyn:GNTauL_v0prune AnalysisTauJetsAuxDyn:GNTauM_v0prune AnalysisTauJetsAuxDyn:GNTauT_v0prune
    AnalysisTauJetsAuxDyn:passTATTauMuonOLR AnalysisTauJetsAuxDyn:IsTruthMatched BornLeptonsAuxDyn:dressedPhoton
    EventInfoAuxDyn:DFCommonJets_isBadBatman EventInfoAuxDyn:DFCommonJets_eventClean_LooseBad_EMTopo
    EventInfoAuxDyn:DFCommonJets_eventClean_LooseBad TruthTausAuxDyn:dressedPhoton TruthTausAuxDyn:IsHadronicTau
    AnalysisElectronsAuxDyn:DFCommonElectronsLHLoose AnalysisElectronsAuxDyn:DFCommonElectronsLHVeryLoose
    AnalysisElectronsAuxDyn:DFCommonElectronsLHLooseBL AnalysisElectronsAuxDyn:DFCommonElectronsLHMedium
    AnalysisElectronsAuxDyn:DFCommonElectronsLHTight AnalysisElectronsAuxDyn:DFCommonElectronsDNNLoose
    AnalysisElectronsAuxDyn:DFCommonElectronsDNNMedium AnalysisElectronsAuxDyn:DFCommonElectronsDNNTight
    AnalysisElectronsAuxDyn:DFCommonElectronsDNNVeryLooseNoCF97
    AnalysisElectronsAuxDyn:DFCommonElectronsDNNMediumNoCF AnalysisElectronsAuxDyn:DFCommonElectronsDNNTightNoCF
    AnalysisElectronsAuxDyn:DFCommonElectronsECIDS AnalysisPhotonsAuxDyn:DFCommonPhotonsCleaning
    AnalysisPhotonsAuxDyn:DFCommonPhotonsIsEMLoose AnalysisPhotonsAuxDyn:DFCommonPhotonsIsEMMedium
    AnalysisPhotonsAuxDyn:DFCommonPhotonsIsEMTight AnalysisPhotonsAuxDyn:DFCommonPhotonsCleaningNoTime
    AnalysisSiHitElectronsAuxDyn:DFCommonElectronsLHVeryLoose
""".split()


def alice(table, branch):
    collection, member = branch.split(".")
    name = f"{collection}/{branch}"
    return Listed("roottest-AliESDs-0", table, name, PACKED_MEMBER, Draw(f"{collection}.{member.partition('[')[0]}"))


FRAMES = ("km3net_timeslice_{0}/KM3NETDAQ::JDAQTimeslice/vector<KM3NETDAQ::JDAQSuperFrame>"
          "/vector<KM3NETDAQ::JDAQSuperFrame>.numberOfHits")


def counters(file, table, branches, field=""):
    return [Listed(file, table, branch, COUNTER, Counter(field)) for branch in branches]


# By file and table. If a branch in a file has several members, the name of the one that counts is given.
COUNTERS = [
    *(row for file in ("gohep-chain.1", "gohep-chain.2", "gohep-stdvec-bool-nosplit-6.10.08", "skhep-issue46",
                       "skhep-small-evnt-tree-nosplit")
      for row in counters(file, "tree", ["evt"], "N")),
    *counters("skhep-nesteddirs", "three/tree", ["evt/N"]),
    *counters("skhep-small-evnt-tree-fullsplit", "tree", ["evt/N"]),
    *counters("km3net-gseagen", "Header", ["RangeSW", "RangeSR"], "fNpoints"),
    *(row for table in ("esdTree", "HLTesdTree") for row in counters("roottest-AliESDs-0", table, """
        AliESDFMD./AliESDFMD.fMultiplicity/AliESDFMD.fMultiplicity.fTotal AliESDFMD./AliESDFMD.fEta/AliESDFMD.fEta.fTotal
        TPCVertex./TPCVertex.AliVertex/TPCVertex.AliVertex.fNIndices SPDVertex./SPDVertex.AliVertex/SPDVertex.AliVertex.fNIndices
        PrimaryVertex./PrimaryVertex.AliVertex/PrimaryVertex.AliVertex.fNIndices
        AliMultiplicity./AliMultiplicity.fNtracks AliMultiplicity./AliMultiplicity.fNsingle
        Tracks/Tracks.fTRDnSlices CaloClusters/CaloClusters.fNCells EMCALCells./EMCALCells.fNCells PHOSCells./PHOSCells.fNCells
        """.split())),
    *(row for table in ("esdTree", "HLTesdTree") for row in counters("roottest-alice_ESDs", table, """
        AliESDFMD/fMultiplicity/fMultiplicity.fTotal AliESDFMD/fEta/fEta.fTotal SPDVertex/AliVertex/fNIndices
        PrimaryVertex/AliVertex/fNIndices AliMultiplicity/fNtracks AliMultiplicity/fNsingle
        """.split())),
    *counters("roottest-Event2a", "T", ["event/fNvertex"]),
    *counters("roottest-Event3a", "T", ["event/fNvertex", "event/fTracks/fTracks.fNsp"]),
    *counters("roottest-missingString", "t", [
        "event/fSambaSubRecs/fSambaSubRecs.fRunNameSize", "event/fSambaSubRecs/fSambaSubRecs.fFileNameSize",
        "event/fBoloPulseSubRecs/fBoloPulseSubRecs.fChannelNameSize"]),
    *counters("roottest-varyingArray_51508", "t1", ["A./A.fN"]),
    *counters("skhep-issue-1610", "TMatrixTSymAnalysis", ["TMatrixTSymAnalysis/covMatrixOfTurn"], "fNelems"),
    *(row for file in ("skhep-issue431", "skhep-issue433-splitlevel2") for kind in ("L1", "L2", "SN")
      for row in counters(file, f"KM3NET_TIMESLICE_{kind}", [FRAMES.format(kind)])),
]


TRACK_ARRAYS = ("fR[5]", "fITSr[5]", "fTPCr[5]", "fTRDr[5]", "fTOFr[5]", "fHMPIDr[5]", "fTPCPoints[4]")

LISTED = [
    *COUNTERS,
    Listed("gohep-leaves", "tree", "SliD32", PACKED_LEAF, Leaf("SliD32")),
    Listed("gohep-x-flat-tree", "tree", "SliD32", PACKED_LEAF, Leaf("SliD32")),
    Listed("gohep-ndim-slice", "tree", "SliD16", PACKED_LEAF, Leaf("SliD16")),
    Listed("gohep-ndim-slice", "tree", "SliD32", PACKED_LEAF, Leaf("SliD32")),
    *(alice(table, f"Tracks.{name}") for table in ("esdTree", "HLTesdTree") for name in TRACK_ARRAYS),
    *(alice("esdTree", name) for name in ("V0s.fCausality[4]", "V0s.fAngle[3]", "Kinks.fTPCdensity[2][2]", "Kinks.fAngle[3]")),
    alice("esdTree", "CaloClusters.fPID[10]"),
    Listed("roottest-Event3a", "T", "event/fTracks/fTracks.fBits", PROCESS_ID, Bits("fTracks.fBits")),
    *(
        Listed("skhep-issue513", "Delphes", f"{name}/{name}.fBits", PROCESS_ID, Bits(f"{name}.fBits"))
        for name in ("Track", "EFlowTrack", "EFlowPhoton", "EFlowNeutralHadron")
    ),
    Listed("roottest-missingString", "t", "event/fSingleBoloSubRecs/fSingleBoloSubRecs.fDetectorName", FIRST_STRING,
           Strings("fSingleBoloSubRecs.fDetectorName")),
    Listed("uprootcustom-test_simple_obj", "tree", "branch/m_map_str_str/m_map_str_str.second", FIRST_STRING,
           Strings("m_map_str_str.second")),
    Listed("uprootcustom-test_stl_seq_with_obj", "tree", "branch/m_vec_root_objects/m_vec_root_objects.m_TString",
           FIRST_STRING, Strings("m_vec_root_objects.m_TString")),
    Listed("uprootcustom-test_stl_seq_with_obj", "tree", "branch/m_vec_simple_object/m_vec_simple_object.m_tstr",
           FIRST_STRING, Strings("m_vec_simple_object.m_tstr")),
    Listed("roottest-TreeVectorClass0", "TreeVectorClass0", "vp", MEMBER_WISE, Draw("vp")),
    Listed("roottest-TreeEventTreeSimple1", "TreeEventTreeSimple1", f"Event_branch/{PARTICLES}", MEMBER_WISE, Draw(PARTICLES)),
    Listed("coffea-PHYSLITE_example", "CollectionTree", "METAssoc_AnalysisMETAux./METAssoc_AnalysisMETAux.jetLink",
           MEMBER_WISE, Draw("METAssoc_AnalysisMETAux.jetLink")),
    *(
        Listed(file, f"KM3NET_TIMESLICE_{kind}", f"km3net_timeslice_{kind}/{DAQ_HEADER}/timeslice_start", FRAME,
               Draw("timeslice_start"))
        for file, kind in ((MUPAGE, "L1"), (MUPAGE, "SN"), ("skhep-issue433-splitlevel2", "L0"))
    ),
    Listed("skhep-issue-880", "Z", "Event/pg[6]", LEVEL, Objects("pg.fE", 6)),
    Listed("skhep-issue-880", "Z", "Event/Cluster[6]", LEVEL, Objects("Cluster.Status", 6)),
    Listed("skhep-issue-880", "Z", "Event/Vertex/Vertex.pRec[2]", LEVEL, Objects("Vertex.pRec.fE", 2)),
    Listed("skhep-issue-880", "Z", "Event/Vertex/Vertex.pRecPre[2]", LEVEL, Objects("Vertex.pRecPre.fE", 2)),
    Listed("uprootcustom-test_cstyle_array", "tree", "branch/m_simple_obj[3]", LEVEL, Objects("m_simple_obj.m_int", 3)),
    Listed("uprootcustom-test_cstyle_array", "tree", "branch/m_tarr_int[3]", LEVEL, Arrays(3, 4)),
    Listed("uprootcustom-test_stl_array", "tree", "branch/m_arr_tarr_int[3]", LEVEL, Arrays(3, 4)),
    *(
        Listed("skhep-issue513", "Delphes", f"{name}/{name}.{member}", SIGNED, References())
        for name, member in (
            ("EFlowPhoton", "Particles"), ("EFlowNeutralHadron", "Particles"), ("Jet", "Constituents"), ("Jet", "Particles"),
            ("GenJet", "Constituents"), ("GenJet", "Particles"), ("Particle", "Constituents"), ("Particle", "Particles"),
        )
    ),
    Listed(MUPAGE, "KM3NET_EVENT", "KM3NET_EVENT/triggeredHits", HEADER_IN_ITEM,
           Records((("id", ">i4"), ("pmt", "u1"), ("tdc", ">u4"), ("tot", "u1"), ("_", "V6"), ("trigger_mask", ">u8")))),
    Listed(MUPAGE, "KM3NET_SUMMARYSLICE", "KM3NET_SUMMARYSLICE/vector<KM3NETDAQ::JDAQSummaryFrame>", ARRAY_OF_OBJECTS,
           Records((("id", ">i4"), ("daq", ">i4"), ("status", ">i4"), ("fifo", ">i4"), ("status_3", ">i4"), ("status_4", ">i4"),
                    ("data.value", "u1", (31,))))),
    Listed("skhep-issue-40", "tree", "bitset8", BITSET, Bitset(8)),
    Listed("skhep-issue-40", "tree", "bitset16", BITSET, Bitset(16)),
    Listed("skhep-issue468", "Event", "Trajectory./Trajectory.filters", BITSET, Bitset(9)),
    Listed("skhep-issue494", "Event", "Trajectory./Trajectory.filters", BITSET, Bitset(10)),
    Listed("roottest-cms_opendata_0_200", "Events", "nMuon", CARDINALITY, Retyped("ROOT::RNTupleCardinality<std::uint32_t>")),
    Listed("roottest-cms_opendata_100_200", "Events", "nMuon", CARDINALITY, Retyped("ROOT::RNTupleCardinality<std::uint32_t>")),
    *(Listed(NANOAOD, "Events", name, CARDINALITY, Retyped("ROOT::RNTupleCardinality<std::uint32_t>")) for name in SIZES),
    *(Listed(PHYSLITE, "EventData", name, CHARACTER, Retyped("char")) for name in CHARACTERS),
    *(Listed(file, "ntuple", "vector_variant_int64_string", VARIANT, Alternatives())
      for file in ("skhep-test_stl_containers_rntuple_v1-0-0-0", "unroot-test_ntuple_stl_containers")),
]
