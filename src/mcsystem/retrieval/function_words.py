"""Words that carry no topic: function words are not searched for in bodies, generic words hardly count as evidence."""

from typing import Final

# Written as they stand after lower-casing with apostrophes taken out.
FUNCTION_WORDS: Final = frozenset(
    """
    a an the of in on at to for from by with and or but if is are was were be been being am do does did has have had
    i you he she it we they me him her them my your his its our their this that these those what which who whom whose
    when where why how there here as not no so than then too very can could will would shall should may might must
    about into over under up down out im ive id ill youre its thats whats whos wheres hows dont doesnt didnt isnt arent
    wasnt werent cant couldnt wont wouldnt shouldnt any some much many just also please hi hello hey thanks again
    actually exactly currently anyway maybe btw pls plz thx ty ok okay guys bro dude r u ur
    """.split()  # noqa: SIM905 - a word list reads better as text
)

# Content words that fit nearly every question; ranked as usual, but weak as evidence that a passage answers.
GENERIC_WORDS: Final = frozenset(
    """
    set sets make makes making made get gets getting got use uses using used find finds finding found need needs
    want wants work works working put take takes go goes going give gives have tell show know like look let help try
    mean means happen happens thing things stuff way ways more most best good better new one ones all every other
    another something anything someone anyone people time times first server servers game player players question
    answer explain possible able allowed really still now
    """.split()  # noqa: SIM905 - as above
)

# Chinese question and structure words; a run of characters is cut where one stands. Longest first.
CHINESE_FUNCTION_WORDS: Final = (
    "为什么",
    "怎么样",
    "怎么办",
    "能不能",
    "可不可以",
    "什么时候",
    "多长时间",
    "在哪里",
    "在哪儿",
    "有没有",
    "是不是",
    "会不会",
    "要不要",
    "告诉我",
    "请问",
    "怎么",
    "怎样",
    "如何",
    "什么",
    "为何",
    "多少",
    "多久",
    "在哪",
    "哪里",
    "哪儿",
    "哪些",
    "哪个",
    "哪位",
    "哪一",
    "是否",
    "可以",
    "的",
    "了",
    "吗",
    "呢",
    "吧",
    "啊",
)

# Characters and pairs that fit nearly every Chinese question; weak as evidence.
CHINESE_GENERIC: Final = frozenset(
    "我你他她它们是有在个这那谁哪几不会能要想用做弄去来到给和与跟就都也还很最才把被让从对好"
) | frozenset(
    (
        "我们",
        "你们",
        "他们",
        "我想",
        "我要",
        "这个",
        "那个",
        "一个",
        "一下",
        "知道",
        "现在",
        "需要",
        "时候",
        "问题",
        "服务",
        "务器",
        "玩家",
        "游戏",
    )
)
