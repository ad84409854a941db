/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Prints what works here and what does not, one line per ability. Below each
 * missing ability it lists what is missing and commands to paste that fix it.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli.h"

enum type {
	END,
	CONFIG,			/* an option of the kernel's build */
	BOOT,			/* a word on the kernel's command line */
	CAPABILITY,		/* a capability of the caller, by number */
	MOUNT,			/* a filesystem that must be mounted */
	MOUNTABLE,		/* or that libpagedet mounts for itself */
	PROGRAM
};

struct need {
	enum type type;
	const char *name;	/* name of the option, program, ... */
	const char *advice;	/* a command to paste, or what to do */
	unsigned capability;
};

struct ability {
	const char *name;
	const char *field;	/* the field that shows it; NULL: the needs show
				 * it */
	const char *cost;
	const char *commands;	/* commands that depend on it */
	struct need need[6];
};

#define MONITOR BUILD("-e PROC_PAGE_MONITOR")

/* The column of the commands. */
#define COMMANDS 32

/* Used by every ability that lacks a capability. */
#define SETCAP \
	"sudo setcap " \
	"cap_sys_admin,cap_sys_ptrace,cap_bpf,cap_perfmon,cap_syslog," \
	"cap_dac_read_search,cap_checkpoint_restore+ep " \
	"\"$(readlink -f \"$(command -v pagedet)\")\""
/* In the kernel's source directory. */
#define BUILD(options) \
	"scripts/config " options " && make olddefconfig && " \
	"make -j\"$(nproc)\" bindeb-pkg"
#define DEBUGFS "sudo mount -t debugfs none /sys/kernel/debug"
#define TRACEFS "sudo mount -t tracefs none /sys/kernel/tracing"

#define TRACING { \
		{ CONFIG, "TRACEPOINTS", \
		  BUILD("-e FTRACE -e ENABLE_DEFAULT_TRACERS"), 0 }, \
		{ MOUNTABLE, "tracefs", TRACEFS, 0 }, \
		{ CAPABILITY, "CAP_DAC_OVERRIDE", NULL, 1 } }

static const struct ability abilities[] = {
	{ "page flags, kinds, counts", "flags",
	  "reads 16 bytes for each page",
	  "page scan map snapshot diff", {
		{ CONFIG, "PROC_PAGE_MONITOR", MONITOR, 0 },
		{ CAPABILITY, "CAP_SYS_ADMIN", NULL, 21 } } },
	{ "addresses of other tasks", "pte",
	  "reads 8 bytes for each page of the task", "task virt", {
		{ CONFIG, "PROC_PAGE_MONITOR", MONITOR, 0 },
		{ CAPABILITY, "CAP_SYS_PTRACE", NULL, 19 } } },
	{ "who maps a page", "user_maps",
	  "reads the page tables of every task: seconds for thousands",
	  "mappers explain", {
		{ CONFIG, "PROC_PAGE_MONITOR", MONITOR, 0 },
		{ CAPABILITY, "CAP_SYS_ADMIN", NULL, 21 },
		{ CAPABILITY, "CAP_SYS_PTRACE", NULL, 19 } } },
	{ "files behind pages", "inode", "nothing more", "file tree page", {
		{ CONFIG, "PROC_PAGE_MONITOR", MONITOR, 0 },
		{ CAPABILITY, "CAP_SYS_ADMIN", NULL, 21 } } },
	{ "memory cgroups", "memcg_path", "reads 8 bytes for each page",
	  "cgroup", {
		{ CONFIG, "MEMCG", BUILD("-e MEMCG"), 0 },
		{ CAPABILITY, "CAP_SYS_ADMIN", NULL, 21 } } },
	{ "kernel memory, refcounts", "refcount",
	  "reads types and loads a program at the beginning",
	  "kaddr explain scan", {
		{ CONFIG, "BPF_SYSCALL",
		  BUILD("-e BPF_SYSCALL -e DEBUG_INFO_BTF"), 0 },
		{ CONFIG, "DEBUG_INFO_BTF",
		  BUILD("-e BPF_SYSCALL -e DEBUG_INFO_BTF"), 0 },
		{ CAPABILITY, "CAP_BPF", NULL, 39 },
		{ CAPABILITY, "CAP_PERFMON", NULL, 38 } } },
	{ "what pages hold", "content",
	  "reads the memory itself",
	  "--fields content,hash", {
		{ CONFIG, "BPF_SYSCALL",
		  BUILD("-e BPF_SYSCALL -e DEBUG_INFO_BTF"), 0 },
		{ CAPABILITY, "CAP_BPF", NULL, 39 },
		{ CAPABILITY, "CAP_PERFMON", NULL, 38 } } },
	{ "who allocated and freed", "alloc_stack",
	  "while it is on: 1.6% of memory, and a stack for each allocation",
	  "stack owners", {
		{ CONFIG, "PAGE_OWNER",
		  BUILD("-e PAGE_OWNER"), 0 },
		{ BOOT, "page_owner=on",
		  "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&page_owner=on /' "
		  "/etc/default/grub && sudo update-grub && sudo reboot", 0 },
		{ MOUNT, "debugfs", DEBUGFS, 0 },
		{ CAPABILITY, "CAP_SYS_ADMIN", NULL, 21 } } },
	{ "writes that failed", NULL,
	  "a trace event that is on: nothing until one fails",
	  "check mark, check errors", TRACING },
	{ "traces of allocations", NULL,
	  "an event for each one while it records, and 8 MiB per processor",
	  "kmem record", TRACING },
	{ "writes during a migration", NULL,
	  "a fault for the first write to each page, while armed",
	  "pagedet_track(3)", {
		{ CONFIG, "USERFAULTFD", BUILD("-e USERFAULTFD"), 0 } } },
	{ "pictures as PNG", NULL, "nothing", "map -o FILE.png", {
		{ PROGRAM, "rsvg-convert",
		  "sudo apt-get install librsvg2-bin", 0 } } },
};

/* The known facts about this machine. */
struct here {
	const char *root;	/* below which its files are; "" */
	char *config;		/* NULL: the kernel does not show it */
	char config_name[PATH_MAX];
	char cmdline[4096];
	uint64_t caps;
	bool caps_known;
};

static char *read_all(FILE *f)
{
	char *text = NULL;
	size_t size = 0;

	if (getdelim(&text, &size, 0, f) < 0) {
		free(text);
		text = NULL;
	}
	return text;
}

static void read_config(struct here *h)
{
	struct utsname name;
	int i;
	FILE *f;

	snprintf(h->config_name, sizeof(h->config_name), "/proc/config.gz");
	if (!access(h->config_name, R_OK)) {
		f = popen("gzip -dc /proc/config.gz 2> /dev/null", "r");
		h->config = f ? read_all(f) : NULL;
		if (f)
			pclose(f);
	}
	for (i = 0; !h->config && i < 2 && !uname(&name); i++) {
		snprintf(h->config_name, sizeof(h->config_name), "%s%s%s%s",
			 h->root, i ? "/lib/modules/" : "/boot/config-",
			 name.release, i ? "/config" : "");
		f = fopen(h->config_name, "re");
		h->config = f ? read_all(f) : NULL;
		if (f)
			fclose(f);
	}
}

/* What runs is the kernel of this process, whatever the root is. */
static void look_around(struct here *h, const char *root)
{
	FILE *f = fopen("/proc/cmdline", "re");

	memset(h, 0, sizeof(*h));
	h->root = root && strcmp(root, "/") ? root : "";
	if (f) {
		if (!fgets(h->cmdline, sizeof(h->cmdline), f))
			h->cmdline[0] = '\0';
		fclose(f);
	}
	h->caps_known = cli_capabilities(&h->caps);
	read_config(h);
}

/* Returns 'y', 'm', 'n', or '?'. */
static char config_of(const struct here *h, const char *name)
{
	char line[64];
	const char *at;

	if (!h->config)
		return '?';
	snprintf(line, sizeof(line), "\nCONFIG_%s=", name);
	at = strstr(h->config, line);
	return at ? at[strlen(line)] : 'n';
}

static bool is_mounted(const struct here *h, const char *type)
{
	static const struct {
		const char *type, *path;
		unsigned long magic;
	} places[] = {
		{ "debugfs", "/sys/kernel/debug", DEBUGFS_MAGIC },
		{ "tracefs", "/sys/kernel/tracing", TRACEFS_MAGIC },
		{ "tracefs", "/sys/kernel/debug/tracing", TRACEFS_MAGIC },
	};
	char path[PATH_MAX];
	struct statfs fs;
	size_t i;

	for (i = 0; i < CLI_COUNT(places); i++) {
		snprintf(path, sizeof(path), "%s%s", h->root, places[i].path);
		if (!strcmp(places[i].type, type) && !statfs(path, &fs) &&
		    (unsigned long)fs.f_type == places[i].magic)
			return true;
	}
	return false;
}

/* Whether the caller may mount it; it is mounted nowhere. */
static bool is_mountable(const char *type)
{
	const int fs = fsopen(type, FSOPEN_CLOEXEC);
	bool may;

	if (fs < 0)
		return false;
	may = fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0;
	close(fs);
	return may;
}

/*
 * Whether the need is met. If that cannot be checked, it does not count as
 * missing.
 */
static bool is_met(const struct here *h, const struct need *n)
{
	switch (n->type) {
	case CONFIG:
		return config_of(h, n->name) != 'n';
	case BOOT:
		return strstr(h->cmdline, n->name);
	case CAPABILITY:
		return !h->caps_known || h->caps >> n->capability & 1;
	case MOUNT:
		return is_mounted(h, n->name);
	case MOUNTABLE:
		return is_mounted(h, n->name) || is_mountable(n->name);
	case PROGRAM:
		return cli_is_installed(n->name);
	default:
		return true;
	}
}

/* Writes the sources that answer the field. Returns false if there is none. */
static bool answered(struct pagedet *pd, const char *field, char *text,
		     size_t size)
{
	struct pagedet_ability a = { .size = sizeof(a) };
	const int f = pagedet_field_by_name(field);
	size_t len = 0;
	uint32_t s;

	*text = '\0';
	for (s = 1; f >= 0 && s < 32; s++) {
		if (!pagedet_source_name(s) ||
		    pagedet_survey(pd, (uint32_t)f, s, &a) || !a.can)
			continue;
		if (s == PAGEDET_SOURCE_DERIVED)
			return true;
		len += (size_t)snprintf(text + len, size - len, "%s%s",
					len ? ", " : "",
					pagedet_source_name(s));
	}
	return len != 0;
}

/*
 * If all needs are met, prints why a source that exists cannot be asked, or
 * what is missing for the first source.
 */
static void print_why(FILE *f, struct pagedet *pd, const char *field)
{
	struct pagedet_ability a = { .size = sizeof(a) };
	const int id = pagedet_field_by_name(field);
	uint32_t s, from = 0, reason = PAGEDET_UNSUPPORTED;

	for (s = 1; id >= 0 && s < 32; s++) {
		if (!pagedet_source_name(s) ||
		    pagedet_survey(pd, (uint32_t)id, s, &a) || a.can ||
		    a.reason == PAGEDET_UNSUPPORTED)
			continue;
		if (from && (a.reason != PAGEDET_NO_ACCESS ||
			     reason == PAGEDET_NO_ACCESS))
			continue;
		reason = a.reason;
		from = s;
	}
	/* The texts belong to the last call. */
	if (from && !pagedet_survey(pd, (uint32_t)id, from, &a))
		fprintf(f, "       %s: %s%s%s\n", pagedet_source_name(from),
			a.why, *a.advice ? "; " : "", a.advice);
}

static void print_details(FILE *f, const struct here *h,
			  const struct ability *a)
{
	const struct need *n;

	fprintf(f, "       cost: %s\n", a->cost);
	for (n = a->need; n->type != END; n++)
		if (n->type == CONFIG)
			fprintf(f, "       CONFIG_%s=%c\n", n->name,
				config_of(h, n->name));
		else
			fprintf(f, "       %s: %s\n", n->name,
				is_met(h, n) ? "yes" : "no");
}

static void print_lack(FILE *f, const struct here *h, const struct need *n)
{
	static const char *const words[] = {
		[CONFIG] = "the kernel was built without CONFIG_%s",
		[BOOT] = "the kernel was started without %s",
		[CAPABILITY] = "%s is missing",
		[MOUNT] = "%s is not mounted",
		[MOUNTABLE] = "%s is not mounted",
		[PROGRAM] = "%s is not installed",
	};

	char quoted[CLI_QUOTED];
	const char *at;

	fprintf(f, "       ");
	fprintf(f, words[n->type], n->name);
	fprintf(f, ":\n         ");
	/* The mount point is below the root. */
	at = n->type == MOUNT || n->type == MOUNTABLE ?
	     strstr(n->advice, "/sys/") : NULL;
	if (at && *h->root)
		fprintf(f, "%.*s%s%s\n", (int)(at - n->advice), n->advice,
			pagedet_quoted(h->root, "DIR", quoted, sizeof(quoted)),
			at);
	else
		fprintf(f, "%s\n", n->advice);
}

/*
 * Prints needs that are not met, and their commands. Capabilities come at the
 * end, because one command grants all of them. Returns whether there were any.
 */
static bool print_missing(FILE *f, const struct here *h,
			  const struct ability *a)
{
	const struct need *n;
	bool any = false;

	for (n = a->need; n->type != END; n++) {
		if (is_met(h, n))
			continue;
		any = true;
		if (n->type == CAPABILITY)
			continue;
		print_lack(f, h, n);
	}
	return any;
}

static bool all_met(const struct here *h, const struct ability *a)
{
	const struct need *n;

	for (n = a->need; n->type != END; n++)
		if (!is_met(h, n))
			return false;
	return true;
}

static bool lacks_capability(const struct here *h, const struct ability *a)
{
	const struct need *n;

	for (n = a->need; n->type != END; n++)
		if (n->type == CAPABILITY && !is_met(h, n))
			return true;
	return false;
}

/* Returns whether a capability would help. */
static bool print_ability(FILE *f, struct pagedet *pd, const struct here *h,
			  const struct ability *a, bool details,
			  uint32_t width)
{
	struct cli_wrap w = { f, width, COMMANDS, COMMANDS };
	char sources[256] = "", words[512];
	bool can = a->field ? answered(pd, a->field, sources, sizeof(sources)) :
			      all_met(h, a);
	const bool denied = lacks_capability(h, a);

	fprintf(f, "%-5s%-27s", !can ? "no" : denied ? "own" : "yes", a->name);
	snprintf(words, sizeof(words), "%s%s%s%s", a->commands,
		 *sources ? "; by " : "", sources, !denied ? "" : can ?
		 "; of your own tasks and files" : "; needs privilege");
	cli_wrap_words(&w, words);
	fputc('\n', f);
	if (!can && !print_missing(f, h, a) && a->field)
		print_why(f, pd, a->field);
	if (details)
		print_details(f, h, a);
	return denied;
}

/* What recorders that were killed have left. */
static void print_strays(FILE *f, struct pagedet *pd)
{
	static const char place[] = "/sys/kernel/tracing/instances";
	char name[64];
	uint32_t i;

	for (i = 0; pagedet_recorder_stray(pd, i, name, sizeof(name)) > 0; i++)
		fprintf(f, "The recorder of a trace was killed, and it still "
			"records;\nthe next 'kmem record' ends it, or:\n"
			"       %s%ssudo rmdir %s/%s\n",
			access(place, F_OK) ? TRACEFS : "",
			access(place, F_OK) ? " && " : "", place, name);
}

/* A recorder that was killed leaves it on; so may the kernel's boot. */
void cli_doctor_memorizer(FILE *f, struct pagedet *pd)
{
	struct pagedet_memorizer_file file = { .size = sizeof(file) };
	struct pagedet_memorizer *m;

	if (pagedet_memorizer(pd, &m))
		return;
	if (!pagedet_memorizer_file(m, PAGEDET_MEMORIZER_ENABLED, &file) &&
	    file.state == PAGEDET_HAVE && file.value)
		fprintf(f, "Memorizer is on, by the boot, a user or a recorder "
			"that\nruns or was killed; it needs ever more memory:"
			"\n"
			"       sudo pagedet kmap off\n");
	pagedet_memorizer_free(m);
}

void cli_doctor_short(FILE *f, struct pagedet *pd, const char *root,
		      bool details, uint32_t width)
{
	bool denied = false;
	struct here h;
	size_t i;

	look_around(&h, root);
	for (i = 0; i < CLI_COUNT(abilities); i++)
		denied |= print_ability(f, pd, &h, &abilities[i],
					details, width);
	print_strays(f, pd);
	if (denied)
		fprintf(f, "With privilege:\n       sudo pagedet ...\n"
			"       %s\n", SETCAP);
	if (details)
		fprintf(f, "CONFIG is from %s\n", h.config ? h.config_name :
			"nowhere: /proc/config.gz and /boot have none");
	free(h.config);
}
