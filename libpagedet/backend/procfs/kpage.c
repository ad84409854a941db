/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads /proc/kpageflags, kpagecount and kpagecgroup: one u64 for each page
 * frame (Linux fs/proc/page.c). The kernel takes 30-80 ns a word and 0.3 us a
 * call. The goal is few calls and few unneeded words.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/procfs/procfs.h"
#include "base/io.h"
#include "base/text/words.h"

/* An unneeded word costs a quarter of a call, so read across gaps up to this
 * many words. */
#define BRIDGE 4

/* This many consecutive frames are read with their own call. */
#define LONG_RUN 64

/* The word that the kernel would give for a frame past the last one. */
static uint64_t past_end(struct procfs_session *s, enum procfs_kpage which,
			 uint64_t pfn)
{
	if (procfs_memory_cut(s->p, &s->session.env, pfn))
		return PROCFS_WORD_LOST;
	return which == KPAGE_FLAGS ? KPF(NOPAGE) : 0;
}

/* Read @n words from @pfn on; unreadable ones become PROCFS_WORD_LOST. */
static void read_words(struct procfs_session *s, int fd,
		       enum procfs_kpage which, uint64_t pfn, uint32_t n,
		       uint64_t *ret)
{
	ssize_t got = 0;
	uint32_t i;

	if (pfn <= (uint64_t)INT64_MAX / 8 - n)
		got = pdet_pread(fd, ret, (size_t)n * 8, pfn * 8);
	for (i = got < 0 ? 0 : (uint32_t)(got / 8); i < n; i++)
		ret[i] = got < 0 ? PROCFS_WORD_LOST :
				   past_end(s, which, pfn + i);
}

/*
 * Sort places by pfn, unless they form long runs that are cheap to read
 * unsorted. LSD radix sort with digits of 11 bits, which skips constant digits;
 * an insertion sort for a few places.
 */
static void sort_places(struct procfs_place *a, struct procfs_place *tmp,
			uint32_t n)
{
	struct procfs_place *from = a, *to = tmp, *swap;
	uint32_t count[2048], i, sum, c;
	uint64_t all_or = 0, all_and = ~(uint64_t)0;
	uint32_t runs = 1;
	bool sorted = true;
	unsigned shift;

	for (i = 0; i < n; i++) {
		all_or |= a[i].pfn;
		all_and &= a[i].pfn;
		sorted &= !i || a[i - 1].pfn <= a[i].pfn;
		runs += i && a[i].pfn - a[i - 1].pfn > BRIDGE;
	}
	if (sorted || runs <= n / LONG_RUN)
		return;
	if (n <= 32) {
		for (i = 1; i < n; i++) {
			struct procfs_place p = a[i];
			uint32_t j = i;

			for (; j && a[j - 1].pfn > p.pfn; j--)
				a[j] = a[j - 1];
			a[j] = p;
		}
		return;
	}
	for (shift = 0; shift < 64; shift += 11) {
		if (!((all_or ^ all_and) >> shift & 2047))
			continue;
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[from[i].pfn >> shift & 2047]++;
		for (i = 0, sum = 0; i < 2048; i++) {
			c = count[i];
			count[i] = sum;
			sum += c;
		}
		for (i = 0; i < n; i++)
			to[count[from[i].pfn >> shift & 2047]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != a)
		memcpy(a, from, n * sizeof(*a));
}

static bool session_room(struct procfs_session *s, uint32_t rows)
{
	uint64_t *words;
	struct procfs_place *look;

	if (rows <= s->rows)
		return true;
	words = malloc((size_t)rows * KPAGE_FILES * sizeof(*words));
	look = malloc((size_t)rows * 2 * sizeof(*look));
	if (!words || !look) {
		free(words);
		free(look);
		return false;
	}
	free(s->word[KPAGE_FLAGS]);
	free(s->look);
	s->word[KPAGE_FLAGS] = words;
	s->word[KPAGE_COUNT] = words + rows;
	s->word[KPAGE_CGROUP] = words + (size_t)2 * rows;
	s->look = look;
	s->rows = rows;
	return true;
}

/* List the rows that have a frame, sorted by it. */
static uint32_t list_places(struct procfs_session *s,
			    const struct pdet_batch *b)
{
	uint32_t row, n = 0;

	for (row = 0; row < b->n; row++) {
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
		    PAGEDET_HAVE)
			continue;
		s->look[n].pfn = b->value[PAGEDET_FIELD_PFN][row];
		s->look[n++].row = row;
	}
	sort_places(s->look, s->look + s->rows, n);
	return n;
}

/* Fill s->word[which] for the rows in s->look[0 .. n - 1]. */
static void read_places(struct procfs_session *s, int fd,
			enum procfs_kpage which, uint32_t n)
{
	const struct procfs_place *look = s->look;
	uint64_t *word = s->word[which];
	uint32_t from, to, i;

	for (from = 0; from < n; from = to) {
		uint64_t first = look[from].pfn;

		for (to = from + 1; to < n; to++)
			if (look[to].pfn - look[to - 1].pfn > BRIDGE ||
			    look[to].pfn - first >= PROCFS_WORDS)
				break;
		read_words(s, fd, which, first,
			   (uint32_t)(look[to - 1].pfn - first + 1), s->words);
		for (i = from; i < to; i++)
			word[look[i].row] = s->words[look[i].pfn - first];
	}
}

/* What was read so far for a batch. */
struct reading {
	bool listed;		/* s->look has n places */
	uint32_t n;
	bool tried[KPAGE_FILES];
	bool marked;		/* holes are marked in the words of
				 * kpageflags */
	int error[KPAGE_FILES];	/* 0: s->word[which][row] is valid */
};

static bool is_read(const struct reading *r, enum procfs_kpage which)
{
	return r->tried[which] && !r->error[which];
}

/* Read s->word[which][row] for every row with a pfn; or a negative errno. */
static int read_kpage(struct procfs_session *s, const struct pdet_batch *b,
		      enum procfs_kpage which, struct reading *r)
{
	int fd;

	if (r->tried[which])
		return r->error[which];
	r->tried[which] = true;
	fd = procfs_kpage_fd(s->p, &s->session.env, which);
	if (fd < 0)
		return r->error[which] = fd;
	if (b->series ||
	    (b->n == 1 &&
	     pdet_batch_state(b, 0, PAGEDET_FIELD_PFN) == PAGEDET_HAVE)) {
		read_words(s, fd, which, b->value[PAGEDET_FIELD_PFN][0], b->n,
			   s->word[which]);
		return 0;
	}
	if (!r->listed) {
		r->n = list_places(s, b);
		r->listed = true;
	}
	read_places(s, fd, which, r->n);
	return 0;
}

/* A row without a frame gets the state of its pfn. */
static void put_like_pfn(struct pdet_batch *b, uint32_t row, unsigned field)
{
	if (!b->value[field])
		return;
	b->value[field][row] = 0;
	b->cell[field][row] = b->cell[PAGEDET_FIELD_PFN][row];
}

static const uint8_t flag_fields[] = {
	PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_FLAGS_KNOWN, PAGEDET_FIELD_KIND,
	PAGEDET_FIELD_HEAD_PFN, PAGEDET_FIELD_ORDER,
};
static const uint8_t count_fields[] = {
	PAGEDET_FIELD_MAPCOUNT, PAGEDET_FIELD_MAPCOUNT_KIND,
};
static const uint8_t cgroup_fields[] = {
	PAGEDET_FIELD_MEMCG_INO, PAGEDET_FIELD_MEMCG_PATH,
	PAGEDET_FIELD_MEMCG_NAME,
};
/* Fields of a file page that procfs knows only from the walk that found it. */
static const uint8_t owner_fields[] = {
	PAGEDET_FIELD_DEV, PAGEDET_FIELD_INODE, PAGEDET_FIELD_INDEX,
	PAGEDET_FIELD_PATH,
};

/* The same lists as sets: a query about one page also checks which fields are
 * requested. */
#define BIT(name) ((uint64_t)1 << PAGEDET_FIELD_##name)
#define FLAG_BITS                                                         \
	(BIT(FLAGS) | BIT(FLAGS_KNOWN) | BIT(KIND) | BIT(HEAD_PFN) | BIT(ORDER))
#define COUNT_BITS (BIT(MAPCOUNT) | BIT(MAPCOUNT_KIND))
#define CGROUP_BITS (BIT(MEMCG_INO) | BIT(MEMCG_PATH) | BIT(MEMCG_NAME))
#define OWNER_BITS (BIT(DEV) | BIT(INODE) | BIT(INDEX) | BIT(PATH))

static bool any(const struct pdet_fields *want, uint64_t bits)
{
	return want->bits[0] & bits;
}

void procfs_together(const struct pdet_backend *b, struct pdet_fields *set)
{
	/* paths of cgroups are of the inode that was read, whenever */
	static const uint64_t words[] = { FLAG_BITS | OWNER_BITS, COUNT_BITS };
	size_t i;

	(void)b;
	for (i = 0; i < PDET_COUNT(words); i++)
		if (any(set, words[i]))
			set->bits[0] |= words[i];
}

static void put_lost_fields(struct pdet_batch *b, uint32_t row, uint32_t n,
			    const uint8_t *list, size_t count,
			    const struct pdet_fields *want, unsigned reason)
{
	size_t i;
	uint32_t r;

	for (i = 0; i < count; i++) {
		if (!pdet_fields_has(want, list[i]))
			continue;
		for (r = row; r < row + n; r++)
			if (pdet_batch_state(b, r, list[i]) ==
			    PAGEDET_NOT_ASKED)
				pdet_put_lost(b, r, list[i], reason, PROCFS);
	}
}

/* Put the kind of rows [row, row + n), unless the walk has set it. */
static void put_kind(struct procfs_session *s, struct pdet_batch *b,
		     uint32_t row, uint32_t n, uint64_t flags)
{
	const unsigned f = PAGEDET_FIELD_KIND;
	unsigned kind, why;
	uint32_t r;

	if (!b->value[f])
		return;
	for (r = row; r < row + n; r++) {
		if (b->cell[f][r])
			continue;
		kind = pdet_kpf_kind(flags);
		why = 0;
		if (kind == PAGEDET_KIND_HOLE)
			kind = procfs_memory_kind(
				s->p, &s->session.env,
				b->value[PAGEDET_FIELD_PFN][r], &why);
		if (why)
			pdet_put_lost(b, r, f, why, PROCFS);
		else
			pdet_put(b, r, f, kind, PROCFS);
	}
}

/* Put dev, inode, index and path of pages that no walk of files found. */
static void put_owner(struct pdet_batch *b, uint32_t row, uint32_t n,
		      const struct pdet_fields *want, uint64_t flags)
{
	unsigned kind, i;
	bool file;
	uint32_t r;

	if (!any(want, OWNER_BITS))
		return;
	kind = pdet_kpf_kind(flags);
	file = kind == PAGEDET_KIND_FILE || kind == PAGEDET_KIND_SHMEM ||
		    kind == PAGEDET_KIND_HUGETLB ||
		    kind == PAGEDET_KIND_UNKNOWN;
	for (i = 0; i < PDET_COUNT(owner_fields); i++) {
		unsigned f = owner_fields[i];

		if (!pdet_fields_has(want, f) || !b->value[f])
			continue;
		for (r = row; r < row + n; r++) {
			if (b->cell[f][r])
				continue;
			if (file)
				pdet_put_lost(b, r, f, PAGEDET_UNSUPPORTED,
					      PROCFS);
			else
				pdet_put_none(b, r, f, PROCFS);
		}
	}
}

/* Set the zero page bit of a present entry. Only the page's flags show it for
 * all sizes of zero page. */
static void put_zero_bit(struct pdet_batch *b, uint32_t row, uint32_t n,
			 uint64_t flags)
{
	uint32_t r;

	for (r = row; r < row + n; r++) {
		if (!(pdet_batch_get(b, r, PAGEDET_FIELD_PTE, 0) &
		      PAGEDET_PTE(PAGEDET_PTE_PRESENT)))
			continue;
		pdet_put_bits(b, r, PAGEDET_FIELD_PTE_KNOWN,
			      PAGEDET_PTE(PAGEDET_PTE_ZERO));
		if (flags & KPF(ZERO_PAGE))
			pdet_put_bits(b, r, PAGEDET_FIELD_PTE,
				      PAGEDET_PTE(PAGEDET_PTE_ZERO));
	}
}

/*
 * Detect whether the kernel shows the tail's own word or its folio's word for a
 * tail. Kernels before 6.9 show the tail's own word, which lacks the LRU bit of
 * the head. The first folio for which the two differ decides.
 */
static void look_at_tail(struct procfs_session *s, uint64_t word,
			 uint64_t head)
{
	const uint64_t tell = KPF(LRU) | KPF(UPTODATE);

	if (!((word | head) & tell))
		return;
	s->kpf.tails_own = !(word & tell);
	s->tails_seen = true;
}

/* The word of the folio of the tails at @row; 0 if tails show it themselves.
 * Returns the reason why it cannot be found, or 0. */
static unsigned head_word(struct procfs_session *s, const struct pdet_batch *b,
			  uint32_t row, const uint64_t *word, uint64_t *ret)
{
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	unsigned why = 0;
	uint64_t head;

	*ret = 0;
	if (!s->tails_seen)
		look_at_tail(s, word[row], 0);
	if (s->tails_seen && !s->kpf.tails_own)
		return 0;
	if (row && pfn[row - 1] + 1 == pfn[row] &&
	    word[row - 1] & KPF(COMPOUND_HEAD) &&
	    word[row - 1] != PROCFS_WORD_LOST)
		*ret = word[row - 1];
	else
		why = procfs_folio_head(s, pfn[row], &head, ret);
	if (!why && !s->tails_seen)
		look_at_tail(s, word[row], *ret);
	return why;
}

uint64_t procfs_flags(struct procfs_session *s, uint64_t word, uint64_t head,
		      uint64_t *known)
{
	if ((word | head) & KPF(KSM) && !s->ksm_seen) {
		s->kpf.ksm_lies = procfs_look_ksm(s->p, &s->session.env);
		s->ksm_seen = true;
	}
	return pdet_kpf_flags(&s->kpf, word, head, known);
}

/* Put rows [row, row + n), which have the same word. */
static void put_flags(struct procfs_session *s, struct pdet_batch *b,
		      uint32_t row, uint32_t n, const uint64_t *word,
		      const struct pdet_fields *want)
{
	uint64_t flags, known, head = 0;
	unsigned lost = 0;

	if (word[row] == PROCFS_WORD_LOST)
		lost = PAGEDET_IO;
	else if (word[row] & KPF(COMPOUND_TAIL))
		lost = head_word(s, b, row, word, &head);
	if (lost) {
		put_lost_fields(b, row, n, flag_fields,
				PDET_COUNT(flag_fields), want, lost);
		put_lost_fields(b, row, n, owner_fields,
				PDET_COUNT(owner_fields), want, lost);
		return;
	}
	flags = procfs_flags(s, word[row], head, &known);
	/* Otherwise flags were only read because other fields are derived from
	 * them. Values of another source stay. */
	if (any(want, BIT(FLAGS) | BIT(FLAGS_KNOWN))) {
		pdet_put_run(b, row, n, PAGEDET_FIELD_FLAGS, flags, PROCFS);
		pdet_put_run(b, row, n, PAGEDET_FIELD_FLAGS_KNOWN, known,
			     PROCFS);
	}
	put_kind(s, b, row, n, flags);
	/* An entry above the pmd level may map a hugetlb page. */
	if (flags & KPF(HUGE) && s->p->live)
		procfs_fill_level(s, b, row, n, word);
	put_owner(b, row, n, want, flags);
	if (b->value[PAGEDET_FIELD_PTE])
		put_zero_bit(b, row, n, flags);
}

/* How many rows from @row on have a pfn and the same word. Tails of different
 * folios count as different. */
static uint32_t run_of_words(const struct pdet_batch *b, uint32_t row,
			     const uint64_t *word, bool same_folio)
{
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	uint32_t end = row + 1;

	if (b->series)
		return pdet_words_equal(word + row, b->n - row);
	while (end < b->n &&
	       pdet_batch_state(b, end, PAGEDET_FIELD_PFN) == PAGEDET_HAVE &&
	       word[end] == word[row] &&
	       (!same_folio || pfn[end] == pfn[end - 1] + 1))
		end++;
	return end - row;
}

/*
 * Kernels that read a snapshot of the page (6.18) show 0 for a frame without
 * memory, as for a page just allocated. The memory map then decides. A scan
 * only visits frames that the map has as memory.
 */
static void mark_holes(struct procfs_session *s, const struct pdet_batch *b)
{
	uint32_t target = s->session.wants->target, row;
	uint64_t *word = s->word[KPAGE_FLAGS];
	unsigned why;

	if (target == PAGEDET_TARGET_SCAN || target == PAGEDET_TARGET_CGROUP)
		return;
	for (row = 0; row < b->n; row++) {
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
			    PAGEDET_HAVE || word[row])
			continue;
		if (!procfs_memory_present(s->p, &s->session.env,
					   b->value[PAGEDET_FIELD_PFN][row],
					   &why))
			word[row] = KPF(NOPAGE);
		else if (why)
			word[row] = PROCFS_WORD_LOST;
	}
}

/* Read kpageflags, and mark holes. */
static int read_flags(struct procfs_session *s, const struct pdet_batch *b,
		      struct reading *reading)
{
	int r = read_kpage(s, b, KPAGE_FLAGS, reading);

	if (r == 0 && !reading->marked)
		mark_holes(s, b);
	reading->marked = true;
	return r;
}

static int fill_flags(struct procfs_session *s, struct pdet_batch *b,
		      const struct pdet_fields *want, struct reading *reading)
{
	uint64_t *word = s->word[KPAGE_FLAGS];
	uint32_t row, n;
	unsigned i;
	int r;

	r = read_flags(s, b, reading);
	if (r < 0) {
		const unsigned why = pdet_reason_of(r);

		put_lost_fields(b, 0, b->n, flag_fields,
				PDET_COUNT(flag_fields), want, why);
		put_lost_fields(b, 0, b->n, owner_fields,
				PDET_COUNT(owner_fields), want, why);
		return r;
	}
	for (row = 0; row < b->n; row += n) {
		n = 1;
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) ==
		    PAGEDET_HAVE) {
			n = run_of_words(b, row, word,
					 word[row] & KPF(COMPOUND_TAIL));
			put_flags(s, b, row, n, word, want);
			continue;
		}
		for (i = 0; i < PDET_COUNT(flag_fields); i++)
			if (pdet_fields_has(want, flag_fields[i]) &&
			    pdet_batch_state(b, row, flag_fields[i]) ==
				    PAGEDET_NOT_ASKED)
				put_like_pfn(b, row, flag_fields[i]);
		for (i = 0; i < PDET_COUNT(owner_fields); i++)
			if (pdet_fields_has(want, owner_fields[i]) &&
			    pdet_batch_state(b, row, owner_fields[i]) ==
				    PAGEDET_NOT_ASKED)
				put_like_pfn(b, row, owner_fields[i]);
	}
	if (pdet_fields_has(want, PAGEDET_FIELD_HEAD_PFN) ||
	    pdet_fields_has(want, PAGEDET_FIELD_ORDER))
		procfs_fill_folio(s, b, word);
	return 0;
}

/* The kpageflags word of a row, or the reason why there is none. */
static bool flags_of(const struct procfs_session *s,
		     const struct reading *reading, uint32_t row,
		     uint64_t *ret, unsigned *why)
{
	*why = PAGEDET_IO;
	if (!is_read(reading, KPAGE_FLAGS)) {
		*why = pdet_reason_of(reading->error[KPAGE_FLAGS]);
		return false;
	}
	*ret = s->word[KPAGE_FLAGS][row];
	return *ret != PROCFS_WORD_LOST;
}

/* kpagecount may be an average for a large folio, but not for a single page. */
static void put_mapcount_kind(struct procfs_session *s, struct pdet_batch *b,
			      uint32_t row, const struct reading *reading)
{
	const uint64_t large = KPF(COMPOUND_HEAD) | KPF(COMPOUND_TAIL);
	unsigned kind = PAGEDET_MAPCOUNT_EXACT, why;
	uint64_t flags;

	if (!flags_of(s, reading, row, &flags, &why)) {
		pdet_put_lost(b, row, PAGEDET_FIELD_MAPCOUNT_KIND, why,
			      PROCFS);
		return;
	}
	if (flags & large && !(flags & KPF(HUGE)))
		kind = procfs_look_mapcount(s->p, &s->session.env);
	if (kind)
		pdet_put(b, row, PAGEDET_FIELD_MAPCOUNT_KIND, kind, PROCFS);
	else
		pdet_put_lost(b, row, PAGEDET_FIELD_MAPCOUNT_KIND,
			      PAGEDET_UNSUPPORTED, PROCFS);
}

static bool has_zero(const struct pdet_batch *b, const uint64_t *word)
{
	uint32_t row;

	for (row = 0; row < b->n; row++)
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) ==
			    PAGEDET_HAVE && !word[row])
			return true;
	return false;
}

/* True for a free page. If a free page is also counted as mapped, it was
 * allocated or freed between the two reads. */
static bool is_free(const struct procfs_session *s,
		    const struct reading *reading, uint32_t row)
{
	return is_read(reading, KPAGE_FLAGS) &&
	       s->word[KPAGE_FLAGS][row] != PROCFS_WORD_LOST &&
	       s->word[KPAGE_FLAGS][row] & KPF(BUDDY);
}

static int fill_count(struct procfs_session *s, struct pdet_batch *b,
		      const struct pdet_fields *want, struct reading *reading)
{
	const uint64_t *word = s->word[KPAGE_COUNT];
	bool kind = pdet_fields_has(want, PAGEDET_FIELD_MAPCOUNT_KIND);
	uint64_t flags;
	unsigned why;
	uint32_t row;
	int r;

	r = read_kpage(s, b, KPAGE_COUNT, reading);
	if (r < 0) {
		put_lost_fields(b, 0, b->n, count_fields,
				PDET_COUNT(count_fields), want,
				pdet_reason_of(r));
		return r;
	}
	/* 0 means "not mapped", but also that there is no page. */
	if (has_zero(b, word))
		read_flags(s, b, reading);
	for (row = 0; row < b->n; row++) {
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
		    PAGEDET_HAVE) {
			put_like_pfn(b, row, PAGEDET_FIELD_MAPCOUNT);
			put_like_pfn(b, row, PAGEDET_FIELD_MAPCOUNT_KIND);
		} else if (word[row] == PROCFS_WORD_LOST) {
			put_lost_fields(b, row, 1, count_fields,
					PDET_COUNT(count_fields), want,
					PAGEDET_IO);
		} else if (!word[row] &&
			   !flags_of(s, reading, row, &flags, &why)) {
			put_lost_fields(b, row, 1, count_fields,
					PDET_COUNT(count_fields), want, why);
		} else if (!word[row] && flags & KPF(NOPAGE)) {
			pdet_put_none(b, row, PAGEDET_FIELD_MAPCOUNT, PROCFS);
			pdet_put_none(b, row, PAGEDET_FIELD_MAPCOUNT_KIND,
				      PROCFS);
		} else {
			pdet_put(b, row, PAGEDET_FIELD_MAPCOUNT, word[row],
				 PROCFS);
			if (word[row] && is_free(s, reading, row))
				pdet_put_note(b, row, PAGEDET_NOTE_TORN);
			if (kind && word[row] >> 63)
				pdet_put_lost(b, row,
					      PAGEDET_FIELD_MAPCOUNT_KIND,
					      PAGEDET_CORRUPT, PROCFS);
			else if (kind)
				put_mapcount_kind(s, b, row, reading);
		}
	}
	return 0;
}

/* Read kpagecgroup. 0 means "not charged". Of a slab page, whose objects are
 * charged individually, it has no meaning. Of a tail it may have none. */
static int read_cgroup(struct procfs_session *s, const struct pdet_batch *b,
		       struct reading *reading)
{
	uint64_t *word = s->word[KPAGE_CGROUP];
	int r = read_kpage(s, b, KPAGE_CGROUP, reading);

	if (r == 0 && has_zero(b, word) && read_flags(s, b, reading) == 0)
		procfs_tails_cgroup(s, b, s->word[KPAGE_FLAGS], word);
	return r;
}

static int fill_cgroup(struct procfs_session *s, struct pdet_batch *b,
		       const struct pdet_fields *want, struct reading *reading)
{
	const unsigned f = PAGEDET_FIELD_MEMCG_INO;
	bool path = pdet_fields_has(want, PAGEDET_FIELD_MEMCG_PATH) ||
		    pdet_fields_has(want, PAGEDET_FIELD_MEMCG_NAME);
	const uint64_t *word = s->word[KPAGE_CGROUP];
	uint64_t flags;
	unsigned why;
	uint32_t row;
	int r;

	/* The inode may be known from an earlier call. The path must then be
	 * that inode's, even if the charge has changed. */
	if (!pdet_fields_has(want, f)) {
		procfs_fill_memcg_path(s, b);
		return 0;
	}
	r = reading->error[KPAGE_CGROUP];
	if (r < 0) {
		put_lost_fields(b, 0, b->n, cgroup_fields,
				PDET_COUNT(cgroup_fields), want,
				pdet_reason_of(r));
		return r;
	}
	for (row = 0; row < b->n; row++) {
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
		    PAGEDET_HAVE)
			put_like_pfn(b, row, f);
		else if (word[row] == PROCFS_WORD_LOST)
			pdet_put_lost(b, row, f, PAGEDET_IO, PROCFS);
		else if (word[row] == PROCFS_WORD_RACED)
			pdet_put_lost(b, row, f, PAGEDET_RACED, PROCFS);
		else if (word[row])
			pdet_put(b, row, f, word[row], PROCFS);
		else if (!flags_of(s, reading, row, &flags, &why))
			pdet_put_lost(b, row, f, why, PROCFS);
		else if (flags & KPF(SLAB))
			pdet_put_lost(b, row, f, PAGEDET_UNSUPPORTED, PROCFS);
		else
			pdet_put_none(b, row, f, PROCFS);
	}
	if (path)
		procfs_fill_memcg_path(s, b);
	return 0;
}

/* True if no other source is asked about pages that are equal only here. */
static bool may_fold(const struct pdet_session *base,
		     const struct pdet_batch *b,
		     const struct pdet_fields *want)
{
	struct pdet_fields rest = base->wants->fields;
	unsigned f;

	if (!(base->wants->fold || base->wants->runs) || !b->series)
		return false;
	pdet_fields_remove(&rest, PAGEDET_FIELD_PAGES);
	pdet_fields_remove(&rest, PAGEDET_FIELD_PFN);
	pdet_fields_for(f, want)
		pdet_fields_remove(&rest, f);
	return pdet_fields_empty(&rest);
}

int procfs_fill(struct pdet_session *base, struct pdet_batch *b,
		const struct pdet_fields *want, unsigned source)
{
	struct procfs_session *s = procfs_session_of(base);
	struct reading reading = { 0 };
	bool flags, count, cgroup;

	(void)source;
	if (!b->n)
		return 0;
	if (!session_room(s, b->cap))
		return -ENOMEM;
	/* mapcount_kind depends on which folios are large */
	flags = any(want, FLAG_BITS | OWNER_BITS | BIT(MAPCOUNT_KIND));
	count = any(want, COUNT_BITS);
	cgroup = any(want, CGROUP_BITS);
	if (flags)
		read_kpage(s, b, KPAGE_FLAGS, &reading);
	if (count)
		read_kpage(s, b, KPAGE_COUNT, &reading);
	if (pdet_fields_has(want, PAGEDET_FIELD_MEMCG_INO))
		read_cgroup(s, b, &reading);
	if (pdet_fields_has(want, PAGEDET_FIELD_FLAGS) &&
	    is_read(&reading, KPAGE_FLAGS))
		procfs_idle(s, b, s->word[KPAGE_FLAGS]);
	if (may_fold(base, b, want) && is_read(&reading, KPAGE_FLAGS))
		procfs_fold(s, b, is_read(&reading, KPAGE_COUNT),
			    is_read(&reading, KPAGE_CGROUP),
			    base->wants->runs);
	if (flags)
		fill_flags(s, b, want, &reading);
	if (count)
		fill_count(s, b, want, &reading);
	if (cgroup)
		fill_cgroup(s, b, want, &reading);
	if (pdet_fields_has(want, PAGEDET_FIELD_NODE) ||
	    pdet_fields_has(want, PAGEDET_FIELD_ZONE))
		procfs_fill_place(s, b, want);
	return pdet_fields_has(want, PAGEDET_FIELD_CONTENT) ?
	       procfs_fill_content(s, b) : 0;
}
