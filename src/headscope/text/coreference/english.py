"""The closed lists of English words from which the rules for mentions tell head words, kinds, number and gender."""

from typing import Literal, NamedTuple

Number = Literal["singular", "plural"]
Gender = Literal["masculine", "feminine", "neuter"]


class Features(NamedTuple):
    """What must agree between two mentions of one thing; None where it is not known."""

    number: Number | None = None
    gender: Gender | None = None
    person: int = 3


def listed(words: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(words.split())


# Pronouns

_PRONOUNS: dict[Features, str] = {
    Features("singular", None, 1): "i me my mine myself i.",
    Features("plural", None, 1): "we us our ours ourselves",
    Features("singular", None, 2): "thou thee thy thine thyself yourself",
    Features("plural", None, 2): "yourselves",
    Features(None, None, 2): "you your yours ye yeh yer",
    Features("singular", "masculine", 3): "he him his himself hisself",
    Features("singular", "feminine", 3): "she her hers herself",
    Features("singular", "neuter", 3): "it its itself 't",
    Features("plural", None, 3): "they them their theirs themselves 'em these those",
    Features("singular", None, 3): "this that oneself",
    Features(None, None, 3): "who whom whose which whoever whomever",
}
PRONOUNS: dict[str, Features] = {form: features for features, forms in _PRONOUNS.items() for form in forms.split()}
POSSESSIVES = listed("my your his her its our their")
REFLEXIVES = listed("myself yourself himself herself itself ourselves yourselves themselves")

# What stands around nouns

POSSESSION = listed("'s ’s ' ’")
INDEFINITES = listed("a an another any each every no some this that these those") | POSSESSIVES
DETERMINERS = INDEFINITES | {"the"}
PREPOSITIONS = listed(
    """about above across after against along amid among around as at before behind below beneath beside besides between
    beyond by concerning despite down during except for from in including inside into like near of off on onto out outside
    over past per regarding round since through throughout to toward towards under unlike until unto up upon via with
    within without"""
)
JOINS = listed("and or nor but & plus")
CLAUSES = listed(
    """who whom whose which that where when because if what how i he she we they you it is was are were has had
    else here there now then today etc etc."""
)
ADVERBS = listed("even especially nearly almost about so as just only in at very not quite")  # before a noun phrase
TITLES = listed("mr mr. mrs mrs. ms ms. miss messrs messrs. mme dr dr. prof. rev. st st. sir lord lady")
SUFFIXES = listed("jr jr. sr sr. esq esq. esquire ii iii iv")  # they follow a name's own last word

# Number

ONE = listed("a an one each every another this that")
MANY = listed("these those many several few both two three four five six seven eight nine ten twelve twenty")
ONE_OR_MANY = listed("family army crew crowd band party company team staff class audience rest some others sheep deer fish")
SINGULARS_IN_S = listed("news series species lens gallows christmas chaos canvas atlas kansas texas paris")
SINGULAR_OF = {
    **{"people": "person", "children": "child", "feet": "foot", "teeth": "tooth", "mice": "mouse", "geese": "goose"},
    **{"wives": "wife", "brethren": "brother", "folk": "", "folks": "", "police": "", "cattle": "", "clergy": ""},
}

# Gender: titles, kin, other nouns; and very common given names, but none that are as often a family name or a noun

_NOUNS: dict[Gender, str] = {
    "masculine": """mr mr. messrs messrs. sir lord master monsieur signor don herr baron duke earl count prince king emperor
        squire esquire man boy lad fellow chap guy gentleman husband bridegroom father papa pa dad daddy grandfather grandpa
        son grandson stepfather brother uncle nephew widower bachelor actor waiter priest monk friar abbot bishop parson
        curate butler footman knight wizard god hero host male""",
    "feminine": """mrs mrs. miss ms ms. lady madam madame ma'am mademoiselle mme signora frau dame baroness duchess countess
        princess queen empress woman girl lass maid maiden wife bride mother mamma mama ma mom mum mummy grandmother grandma
        granny daughter granddaughter stepmother sister aunt auntie niece widow spinster actress waitress nun abbess
        governess mistress hostess heiress goddess witch housewife nurse female""",
    "neuter": """house home room hall door window garden place spot town city village street road way path country land
        island world earth sea ocean river lake stream mountain hill valley forest wood field farm church school shop inn
        hotel office building castle palace cottage cabin kitchen parlour library chamber bridge ship boat car train
        carriage book letter paper story word day night year time money government law war state nation""",
}
_GIVEN_NAMES: dict[Gender, str] = {
    "masculine": """john william james george thomas charles henry robert edward joseph richard samuel david michael daniel
        peter paul andrew stephen steven philip matthew anthony arthur albert alfred frederick walter harold ernest benjamin
        tom jim jack dick harry bob bill sam joe ben ned fred charlie billy tommy johnny jimmy simon hugh oliver edgar edmund
        ralph gilbert roger adam isaac jacob abraham noah donald kenneth kevin brian eric gary jason jeffrey larry""",
    "feminine": """mary elizabeth anne anna ann jane emma margaret alice sarah catherine katharine katherine ellen helen
        emily charlotte caroline florence edith lucy harriet frances martha ruth rachel rebecca maria julia louisa laura
        dorothy eleanor agnes isabella isabel eliza susan nancy betty betsey kate kitty annie fanny polly jenny sally molly
        marianne elinor amelia clara cecilia beatrice barbara patricia linda jennifer lisa karen donna sharon michelle""",
}
NOUNS: dict[str, Gender] = {word: gender for gender, words in _NOUNS.items() for word in words.split()}
GIVEN_NAMES: dict[str, Gender] = {name: gender for gender, names in _GIVEN_NAMES.items() for name in names.split()}
NOT_MEN = listed("human german roman norman ottoman talisman caiman shaman")
