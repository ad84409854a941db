/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The command explain: collects evidence about pages, and applies the rules. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Time limit of the search for other mappings. */
#define MAPPERS_NS 2000000000u
/* A concurrent writer usually writes within this time. */
#define AGAIN_NS 20000000u
/* At most one finding per question. */
#define QUESTIONS 8

struct explaining {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_collect_options o;
	struct pagedet_evidence *evidence;
	struct pagedet_finding *findings;
	void *arena;
	uint64_t n, sent, hash_key;
	uint64_t n_findings;
	uint64_t cached;	/* number of pages of the file */
	int rows;
};

static bool is_mismatch(const struct cli_job *job)
{
	return job->path != NULL;
}

static int check_options(const struct cli_job *job)
{
	if (!is_mismatch(job) && (job->sent || job->peer || job->save))
		return cli_usage("--%s is an option of 'explain mismatch'",
				 job->sent ? "sent" : job->peer ? "peer" :
				 "save");
	if (is_mismatch(job) && (job->why || job->page_size))
		return cli_usage("--%s is an option of 'explain page'",
				 job->why ? "why" : "page-size");
	if (job->peer && job->save)
		return cli_usage("--peer cannot be combined with --save");
	if (job->alternatives && job->format == PAGEDET_FORMAT_CSV)
		return cli_usage("--alternatives cannot be written as CSV");
	return CLI_ANSWERED;
}

/* Splits ranges into single pages, the form of evidence. */
static int spread(struct cli_job *job, uint64_t step)
{
	struct pagedet_item *pages;
	uint64_t n = 0, i, at;
	size_t k;

	for (k = 0; k < job->n_items; k++) {
		const struct pagedet_item *item = &job->items[k];

		n += (item->first % step + item->count - 1) / step + 1;
		if (item->count > 1u << 30 || n > 1000000)
			return cli_usage("explain: there are more than a "
					 "million pages");
	}
	pages = calloc(n, sizeof(*pages));
	if (!pages)
		return cli_fail_errno("explain");
	for (k = 0, i = 0; k < job->n_items; k++) {
		const struct pagedet_item *item = &job->items[k];
		const uint64_t end = item->first + (item->count - 1);

		for (at = item->first; ; at += step - at % step) {
			pages[i].first = at;
			pages[i].count = 1;
			pages[i++].pid = item->pid;
			if (end - at < step - at % step)
				break;
		}
	}
	free(job->items);
	job->items = pages;
	job->n_items = job->max_items = (size_t)i;
	return CLI_ANSWERED;
}

/* Whether it is an address of the user's half, which needs a process. */
static bool is_user_address(const char *word)
{
	uint64_t n;

	return !cli_number(word, CLI_HEX, &n) && n >> 63 == 0 &&
	       strlen(word) >= 8;
}

/* What "page:" or nothing stands before. */
static const char *number_of(const char *word)
{
	static const char page[] = "page:";
	const char *number = word + strlen(page);
	struct pagedet_item item;

	if (strncmp(word, page, strlen(page)))
		return word;
	/* In a log it is an address, or what the kernel shows instead. */
	return !strncmp(number, "ffff", 4) ||
	       (strlen(number) <= 10 && !cli_range(number, CLI_PFN, &item)) ?
	       number : word;
}

/* Words for a process in its place: "explain process 12". */
static int no_process(const struct cli_job *job, const char *what)
{
	char text[CLI_HINT], instead[CLI_HINT];

	cli_fill(job, job->words + 1, job->n_words - 1, "pagedet task PID",
		 text);
	snprintf(instead, sizeof(instead), "try: %s;", text);
	return cli_refuse(instead, "explain: '%s' is not a page: explain is "
			  "about pages", what);
}

/* A question of --why in the place of a page: "explain leak 12". */
static int no_question(const struct cli_job *job, const char *what)
{
	char text[128], filled[CLI_HINT], instead[CLI_HINT];

	snprintf(text, sizeof(text), "pagedet explain PFN --why %s", what);
	cli_fill(job, job->words + 1, job->n_words - 1, text, filled);
	snprintf(instead, sizeof(instead), "try: %s;", filled);
	return cli_refuse(instead, "explain: '%s' is a question about a page",
			  what);
}

#define QUESTION_WORDS "free migrate pinned reclaim charge poison leak"

/* The first word is none of those that explain knows. */
static int no_page(const struct cli_job *job, const char *word)
{
	static const char what[] = "explain: '%s' is not page, mismatch or "
		"crash, a page frame number, or a file";
	static const char *const names[] = { "page", "mismatch", "crash" };
	char instead[CLI_HINT];

	if (cli_is_in_list(QUESTION_WORDS, word))
		return no_question(job, word);
	if (cli_is_in_list("process pid task proc", word))
		return no_process(job, word);
	if (!strcmp(word, "self"))
		return cli_instead(job, "task self", what, word);
	if (cli_command_for_name(job, word, true, instead) ||
	    (pagedet_nearest(word, names, CLI_COUNT(names)) < 0 &&
	     cli_command_for_symbol(job, word, instead)))
		return cli_refuse(instead, what, word);
	return cli_no_word("page mismatch crash", word, strlen(word), what,
			   word);
}

/* PID ADDR in the place of a page, which virt would show. */
static int no_address(const struct cli_job *job, const char *word)
{
	char instead[CLI_HINT], text[CLI_HINT];

	cli_fill(job, job->words, job->n_words,
		 "pagedet explain virt PID ADDR", text);
	snprintf(instead, sizeof(instead), "try: %s;", text);
	return cli_refuse(instead, "explain: '%s' is not a page frame number",
			  word);
}

/* virt PID ADDR...: the pages at these addresses. */
static int parse_virt(struct cli_job *job)
{
	struct pagedet_item item = { 0, 1, 0, 0 };
	struct cli_name name = { NULL, NULL, NULL };
	const char *wrong;
	int i, status;

	if (job->n_words < 3)
		return cli_usage("explain virt lacks arguments: PID ADDR...");
	status = cli_parse_pid(job, job->words[1], &item.pid, &name.task);
	for (i = 2; i < job->n_words && !status; i++) {
		wrong = cli_number(job->words[i], CLI_HEX, &item.first);
		if (wrong)
			return cli_usage("explain virt: '%s' %s", job->words[i],
					 wrong);
		cli_tell_radix(job, job->words[i]);
		status = cli_add_named(job, &item, &name);
	}
	return status;
}

/* Parses PFN, a kernel ADDR, or a file. */
static int parse_pages(struct cli_job *job, bool named)
{
	struct pagedet_item item = { 0, 1, 0, 0 };
	const char *wrong;
	int i, status;

	if (!named && !job->file && job->n_words == 1 &&
	    cli_is_file(job, job->words[0]))
		job->file = job->words[0];
	else if (job->file && job->n_words)
		return cli_usage("explain: --file '%s' cannot be combined with "
				 "'%s'",
				 job->file, job->words[0]);
	if (job->file && job->alternatives)
		return cli_usage("--alternatives is for a page: explain PFN");
	if (job->file)
		return CLI_ANSWERED;
	if (!job->n_words)
		return cli_usage("explain lacks arguments: %s",
				 job->command->arguments);
	for (i = 0; i < job->n_words; i++) {
		const char *word = number_of(job->words[i]);

		wrong = cli_range(word, CLI_PFN, &item);
		if (wrong && !strncmp(word, "ffff", 4))
			wrong = cli_number(word, CLI_HEX, &item.first);
		/* Addresses of the kernel's half have the highest bit set. */
		if (i && (wrong ? is_user_address(word) :
			  cli_is_no_frame(item.first) && !(item.first >> 63)))
			return no_address(job, word);
		if (wrong && !named && (*word < '0' || *word > '9'))
			return no_page(job, word);
		if (wrong)
			return cli_no_range(job, word, CLI_PFN, wrong);
		status = cli_add_item(job, &item);
		if (status)
			return status;
	}
	return CLI_ANSWERED;
}

/* Parses the log; --file names the program. */
static int parse_crash(struct cli_job *job)
{
	if (job->n_words > 2)
		return cli_usage("explain crash takes one log at a time");
	if (job->why || job->sent || job->peer || job->save)
		return cli_usage("explain crash takes no --why, --sent, --peer "
				 "or --save");
	if (job->open.n_files || job->open.root)
		return cli_usage("explain crash reads the files of this "
				 "machine: it takes neither --from nor --root");
	job->crash = true;
	job->words++;
	job->n_words--;
	return cli_parse_log(job);
}

/* "file PATH": the same as PATH. */
static void take_file(struct cli_job *job)
{
	if (job->n_words != 2 || job->file || strcmp(job->words[0], "file"))
		return;
	job->file = job->words[1];
	job->n_words = 0;
}

int cli_parse_explain(struct cli_job *job)
{
	const char *what = job->n_words ? job->words[0] : "";
	const bool named = !strcmp(what, "page") || !strcmp(what, "mismatch");
	int status;

	if (!strcmp(what, "crash"))
		return parse_crash(job);
	take_file(job);
	if (!strcmp(what, "mismatch"))
		job->path = what;	/* marks that no file is given */
	if (named) {
		job->words++;
		job->n_words--;
	}
	if (is_mismatch(job) && job->n_words < 2)
		return cli_usage("explain mismatch lacks arguments: PID "
				 "ADDR...");
	status = check_options(job);
	if (status)
		return status;
	if (!strcmp(what, "virt"))
		return parse_virt(job);
	return is_mismatch(job) ? cli_parse_virt(job) :
				  parse_pages(job, named);
}

static int set_questions(struct explaining *x)
{
	const char *at = x->job->why;

	x->o.questions = is_mismatch(x->job) ? PAGEDET_ASK_MISMATCH : 0;
	if (!at)
		return CLI_ANSWERED;
	do {
		size_t len = strcspn(at, ",");
		char name[32] = "";
		int question = -1;

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			question = pagedet_question_by_name(name);
		}
		if (question < 0 || question == PAGEDET_ASK_MISMATCH)
			return cli_no_word(QUESTION_WORDS, at, len, "--why: "
					   "'%.*s' is not free, migrate, "
					   "pinned, reclaim, charge, poison or "
					   "leak", (int)len, at);
		x->o.questions |= (uint32_t)question;
		at += len;
	} while (*at++ == ',');
	return CLI_ANSWERED;
}

static int set_sent(struct explaining *x)
{
	const char *wrong;

	if (!x->job->sent)
		return CLI_ANSWERED;
	if (x->job->n_items > 1)
		return cli_usage("--sent is for one page");
	if (!x->job->open.hash_key)
		return cli_usage("--sent needs --hash-key: without it each run "
				 "has its own key");
	wrong = cli_number(x->job->sent, CLI_HEX, &x->sent);
	if (wrong)
		return cli_usage("--sent: '%s' %s", x->job->sent, wrong);
	return CLI_ANSWERED;
}

static int set_key(struct explaining *x)
{
	const int error = pagedet_hash_key_id(x->pd, &x->hash_key);

	return error ? cli_fail(x->pd, error) : CLI_ANSWERED;
}

static int take_peer(struct explaining *x)
{
	struct pagedet_evidence *peer = NULL;
	uint64_t n = 0;
	int status;

	if (!x->job->peer)
		return CLI_ANSWERED;
	status = cli_peer_load(x->pd, x->job->peer, &peer, &n);
	if (!status && n != x->n) {
		cli_say("'%s' has evidence of %llu page%s, not of %llu",
			x->job->peer, (unsigned long long)n, cli_plural(n),
			(unsigned long long)x->n);
		status = CLI_MALFORMED;
	}
	if (!status)
		pagedet_evidence_join(x->evidence, x->n, peer);
	free(peer);
	return status;
}

static int collect(struct explaining *x)
{
	x->evidence = calloc(x->n, sizeof(*x->evidence));
	if (!x->evidence)
		return cli_fail_errno("explain");
	x->evidence->size = sizeof(*x->evidence);
	x->o.deadline_ns = cli_deadline_left(x->job);
	x->rows = pagedet_collect(x->pd, x->job->items, x->n, &x->o,
				  x->evidence);
	if (x->rows < 0)
		return cli_fail(x->pd, x->rows);
	if (x->job->sent) {
		x->evidence->hash[PAGEDET_AS_SENT] = x->sent;
		x->evidence->hash_state[PAGEDET_AS_SENT] = PAGEDET_HAVE;
		x->evidence->hash_key[PAGEDET_AS_SENT] = x->hash_key;
	}
	return take_peer(x);
}

static int explain(struct explaining *x)
{
	const uint64_t max = x->n * QUESTIONS, room = max * 4096 + x->n * 32;
	int n;

	x->findings = calloc(max, sizeof(*x->findings));
	x->arena = malloc(room);
	if (!x->findings || !x->arena)
		return cli_fail_errno("explain");
	x->findings->size = sizeof(*x->findings);
	n = pagedet_explain(x->evidence, x->n, x->arena, room, x->findings,
			    max);
	if (n < 0)
		return cli_fail(x->pd, n);
	x->n_findings = (uint64_t)n;
	return CLI_ANSWERED;
}

static int emit(struct explaining *x)
{
	struct pagedet_emitter *e;
	struct cli_output out;
	uint64_t folded = 0;
	int status, error;

	if (!is_mismatch(x->job))
		folded = cli_explain_fold(x->findings, &x->n_findings,
					  x->evidence);

	status = cli_output_open(&out, x->job->output);
	if (!status)
		status = cli_emitter_new(x->job, x->pd, out.fd, out.fd, &e);
	if (!status) {
		error = pagedet_emit_findings(e, x->findings, x->n_findings,
					      x->evidence);
		status = cli_emitter_end(x->pd, e, error, out.fd);
	}
	if (folded && !status && !x->job->quiet)
		cli_say("%llu findings that are the same for other pages of a "
			"folio are left out", (unsigned long long)folded);
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}

static int judge(const struct explaining *x)
{
	bool cause = false, unsure = false;
	uint64_t i;

	for (i = 0; i < x->n_findings; i++) {
		cause |= x->findings[i].verdict == PAGEDET_VERDICT_CAUSE;
		unsure |= x->findings[i].verdict ==
			  PAGEDET_VERDICT_CANNOT_TELL;
	}
	if ((uint64_t)x->rows < x->n && !x->job->quiet)
		cli_say("%llu of %llu page%s could not be looked at",
			(unsigned long long)(x->n - (uint64_t)x->rows),
			(unsigned long long)x->n, cli_plural(x->n));
	if (unsure || (uint64_t)x->rows < x->n)
		return CLI_UNSURE;
	return cause ? CLI_ANSWERED : CLI_NO;
}

static int run(struct explaining *x)
{
	struct pagedet_info info = { .size = sizeof(info) };
	int error = pagedet_info(x->pd, &info);
	int status = CLI_ANSWERED, judged;
	char quoted[CLI_QUOTED];

	if (error)
		return cli_fail(x->pd, error);
	if (x->job->file)
		status = cli_explain_pages_of(x->job, x->pd, &x->cached);
	else if (!is_mismatch(x->job))
		status = cli_explain_addresses(x->job, x->pd);
	if (status)
		return status;
	if (is_mismatch(x->job) && !info.page_size) {
		cli_say("explain mismatch: the source has no processes");
		return CLI_UNAVAILABLE;
	}
	status = spread(x->job, is_mismatch(x->job) ? info.page_size : 1);
	x->n = x->job->n_items;
	if (!status)
		status = set_sent(x);
	if (!status)
		status = collect(x);
	if (!status && x->job->save)
		return cli_peer_save(x->pd, x->job->save, x->evidence, x->n);
	if (!status)
		status = explain(x);
	if (status)
		return status;
	judged = judge(x);
	if (x->job->file)
		status = cli_explain_report(x->job, x->findings,
					    x->n_findings, x->evidence, x->n);
	else
		status = emit(x);
	if (!status && !is_mismatch(x->job))
		cli_tell_process(x->job, x->pd);
	if (x->job->file && !x->job->quiet && cli_is_log_name(x->job->file))
		cli_say("hint: for what a kernel log says: %s from-log %s",
			x->job->again,
			cli_argument(x->job->file, "FILE", quoted));
	if (x->job->file && x->cached > x->n && !x->job->quiet)
		cli_say("looked at %llu of the %llu pages that are cached",
			(unsigned long long)x->n,
			(unsigned long long)x->cached);
	return status ? status : judged;
}

int cli_run_explain(struct cli_job *job, struct pagedet *pd)
{
	struct explaining x = { .job = job, .pd = pd,
				.o = PAGEDET_COLLECT_OPTIONS_INIT };
	int status;

	if (job->crash)
		return cli_run_crash(job, pd);
	status = set_questions(&x);

	x.o.target = PAGEDET_TARGET_PFN;
	x.o.mappers_ns = MAPPERS_NS;
	x.o.options = PAGEDET_COLLECT_LOG;
	if (is_mismatch(job)) {
		x.o.target = PAGEDET_TARGET_VIRT;
		x.o.options = PAGEDET_COLLECT_CONTENT | PAGEDET_COLLECT_AGAIN |
			      PAGEDET_COLLECT_FILE;
		x.o.again_ns = AGAIN_NS;
		if (!status)
			status = set_key(&x);
	}
	if (!status)
		status = run(&x);
	free(x.evidence);
	free(x.findings);
	free(x.arena);
	return status;
}
