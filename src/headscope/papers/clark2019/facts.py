"""The numbers that clark2019 prints. Heads are written layer-head, both counted from 1, as there."""

from headscope.papers.printed import Printed

MODEL = "BERT-base"
TEXT = "1,000 Wikipedia segments of at most 128 tokens"
TREEBANK = "Penn Treebank, Wall Street Journal, Stanford Dependencies"
COREFERENCE = "CoNLL-2012, documents cut at 128 tokens"
TITLE = "What does BERT look at? An analysis of BERT's attention (Clark, Khandelwal, Levy and Manning, 2019)"


# relation, head, accuracy, accuracy of the best fixed offset, that offset (percent; table 1)
TABLE1 = Printed(
    [
        ("all", "7-6", 34.5, 26.3, 1),
        ("prep", "7-4", 66.7, 61.8, -1),
        ("pobj", "9-6", 76.3, 34.6, -2),
        ("det", "8-11", 94.3, 51.7, 1),
        ("nn", "4-10", 70.4, 70.2, 1),
        ("nsubj", "8-2", 58.5, 45.5, 1),
        ("amod", "4-10", 75.6, 68.3, 1),
        ("dobj", "8-10", 86.8, 40.0, -2),
        ("advmod", "7-6", 48.8, 40.2, 1),
        ("aux", "4-10", 81.1, 71.5, 1),
        ("poss", "7-6", 80.5, 47.7, 1),
        ("auxpass", "4-10", 82.5, 40.5, 1),
        ("ccomp", "8-1", 48.8, 12.4, -2),
        ("mark", "8-2", 50.7, 14.5, 2),
        ("prt", "6-7", 99.1, 91.4, -1),
    ],
    columns=["relation", "head", "accuracy", "baseline", "offset"],
)

# system, accuracy for all, pronoun, proper, nominal (percent; table 2)
TABLE2 = Printed(
    [
        ("nearest", 27, 29, 29, 19),
        ("head word match", 52, 47, 67, 40),
        ("rule-based", 69, 70, 77, 60),
        ("best head", 65, 64, 73, 58),  # 5-4
    ],
    columns=["system", "all", "pronoun", "proper", "nominal"],
)
NEURAL_COREFERENCE = 83  # Wiseman et al. 2015, on whole documents with mentions of its own

# probe, UAS (percent; table 3)
TABLE3 = {"right-branching": 26, "distances + GloVe": 58, "random init attention + GloVe": 30}
TABLE3 |= {"attention": 61, "attention + GloVe": 77}
STRUCTURAL_PROBE = 80  # Hewitt and Manning 2019: undirected
