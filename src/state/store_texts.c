/* Objects and their texts. A text is packed against that of an object of its kind that came before; when that does not
 * help, the kind has come to look different, and the text becomes the one that later ones are packed against. */
#include <stdlib.h>

#include "state/packed.h"
#include "state/store_int.h"

static struct reference *reference_new(str text)
{
    struct reference *r = xmalloc(sizeof(*r) + text.n);

    *r = (struct reference){.users = 1, .n = text.n};
    if (text.n)
        memcpy(r->text, text.p, text.n);
    return r;
}

void reference_drop(struct reference *r)
{
    if (r && --r->users == 0)
        free(r);
}

static str reference_text(const struct reference *r)
{
    return r ? (str){r->text, r->n} : (str){0};
}

/* What the text is packed against; the packed text is in s->packing. */
static struct reference *pack_text(struct store *s, enum object_kind kind, str text)
{
    struct table *t = &s->tables[kind];

    sb_reset(&s->packing);
    if (text.n == 0)
        return NULL;
    if (t->like)
        pack(&s->packing, text, reference_text(t->like), t->places);
    if (!t->like || s->packing.n > text.n / 2) {
        reference_drop(t->like);
        t->like = reference_new(text);
        if (!t->places)
            t->places = xmalloc(sizeof(*t->places));
        places_of(t->places, text);
        sb_reset(&s->packing);
        pack(&s->packing, text, text, t->places);
    }
    t->like->users++;
    return t->like;
}

static str put_text(char **p, str s)
{
    char *at = *p;

    if (s.n)
        memcpy(at, s.p, s.n);
    *p += s.n;
    return (str){at, s.n};
}

/* Name and uid as what was decoded has them, in its box: no need for a second copy. */
static bool names_in_box(const struct store_object *o, str *ret_name, str *ret_uid)
{
    const struct nodeclaim *claim = o->decoded;
    const struct node *node = o->decoded;

    if (!o->decoded || (o->kind != OBJ_NODE && o->kind != OBJ_NODECLAIM))
        return false;
    *ret_name = o->kind == OBJ_NODE ? node->name : claim->name;
    *ret_uid = o->kind == OBJ_NODE ? node->uid : claim->uid;
    return str_eq(*ret_name, o->meta->name) && str_eq(*ret_uid, o->meta->uid);
}

struct object *stored_new(struct store *s, const struct store_object *o)
{
    const struct object_meta *m = o->meta;
    struct reference *like = pack_text(s, o->kind, o->text);
    str name, uid;
    bool boxed = names_in_box(o, &name, &uid);
    struct object *x = xmalloc(sizeof(*x) + m->ns.n + (boxed ? 0 : m->name.n + m->uid.n) + s->packing.n);
    char *p = (char *)(x + 1);

    *x = (struct object){
        .kept = {.text = {NULL, o->text.n},
                 .version = m->version,
                 .digest = o->digest,
                 .generation = m->generation,
                 .created_ms = m->created_ms,
                 .deleted_ms = m->deleted_ms,
                 .managed = m->managed},
        .box = o->box,
        .decoded = o->decoded,
        .like = like,
        .number = MAP_NONE,
        .host = MAP_NONE,
        .dense = MAP_NONE,
        .seen = true,
    };
    x->ns = put_text(&p, m->ns);
    x->kept.name = boxed ? name : put_text(&p, m->name);
    x->kept.uid = boxed ? uid : put_text(&p, m->uid);
    x->packed = put_text(&p, sb_view(&s->packing));
    return x;
}

static void let_go(struct object **place)
{
    free((char *)(uintptr_t)(*place)->kept.text.p);
    (*place)->kept.text.p = NULL;
    *place = NULL;
}

/* One that is there already moves to the newest place, too: whoever asks for two texts must not lose the first by the second. */
void stored_unpack(const struct store *s, struct object *x)
{
    struct unpacked *u = s->unpacked;
    char *p;

    if (x->kept.text.n == 0)
        return;
    if (x->kept.text.p)
        u->v[x->slot] = NULL;
    if (u->v[u->next])
        let_go(&u->v[u->next]);
    if (!x->kept.text.p) {
        p = xmalloc(x->kept.text.n);
        unpack(p, x->kept.text.n, x->packed, reference_text(x->like));
        x->kept.text.p = p;
    }
    x->slot = u->next;
    u->v[u->next] = x;
    u->next = (u->next + 1) % MAX_UNPACKED;
}

void stored_free(struct store *s, struct object *x)
{
    if (!x)
        return;
    if (x->kept.text.p)
        let_go(&s->unpacked->v[x->slot]);
    reference_drop(x->like);
    arena_free(x->box);
    free(x);
}
