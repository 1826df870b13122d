/* Words that mean something of their own: reserved ones, macros, operators. */
#include "model/cel_impl.h"

bool cel_is_reserved(str name)
{
    static const char *const words[] = {"as",        "break",  "const",  "continue", "else",  "for",
                                        "function",  "if",     "import", "let",      "loop",  "package",
                                        "namespace", "return", "var",    "void",     "while", "in"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(name, words[i]))
            return true;
    return false;
}

bool cel_is_namespace(str name)
{
    return str_is(name, "optional") || str_is(name, "sets") || str_is(name, "math") || str_is(name, "cel");
}

static const struct cel_macro_word macros[] = {
    {"all", MACRO_ALL, 3, 1},
    {"exists", MACRO_EXISTS, 3, 1},
    {"exists_one", MACRO_EXISTS_ONE, 3, 1},
    {"existsOne", MACRO_EXISTS_ONE, 3, 1},
    {"filter", MACRO_FILTER, 1, 1},
    {"map", MACRO_MAP, 1, 2},
    {"transformList", MACRO_MAP, 2, 2},
    {"transformMap", MACRO_TRANSFORM_MAP, 2, 2},
    {"optMap", MACRO_OPT_MAP, 1, 1},
    {"optFlatMap", MACRO_OPT_FLAT_MAP, 1, 1},
};

const struct cel_macro_word *cel_find_macro(str name)
{
    for (size_t i = 0; i < ARRAY_LEN(macros); i++)
        if (str_is(name, macros[i].name))
            return &macros[i];
    return NULL;
}

static const struct cel_infix infixes[] = {
    {"||", 1, NODE_OR, 0},          {"&&", 2, NODE_AND, 0},         {"==", 3, NODE_BINARY, BIN_EQ},
    {"!=", 3, NODE_BINARY, BIN_NE}, {"<=", 3, NODE_BINARY, BIN_LE}, {"<", 3, NODE_BINARY, BIN_LT},
    {">=", 3, NODE_BINARY, BIN_GE}, {">", 3, NODE_BINARY, BIN_GT},  {"in", 3, NODE_BINARY, BIN_IN},
    {"+", 4, NODE_BINARY, BIN_ADD}, {"-", 4, NODE_BINARY, BIN_SUB}, {"*", 5, NODE_BINARY, BIN_MUL},
    {"/", 5, NODE_BINARY, BIN_DIV}, {"%", 5, NODE_BINARY, BIN_MOD},
};

const struct cel_infix *cel_find_infix(const struct cel_token *t)
{
    if (t->kind != TOKEN_PUNCT && t->kind != TOKEN_IDENT)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(infixes); i++)
        if (str_is(t->text, infixes[i].text))
            return &infixes[i];
    return NULL;
}
