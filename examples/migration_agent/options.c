/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses the command line. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"

enum {
	OPT_MODE = 256, OPT_RAM, OPT_MEMORY, OPT_CPUS, OPT_SEED, OPT_FAULT,
	OPT_HARM, OPT_KERNEL, OPT_INITRD, OPT_APPEND, OPT_SOURCE,
	OPT_DESTINATION,
	OPT_QEMU, OPT_ACCEL, OPT_BANDWIDTH, OPT_DEADLINE, OPT_REPORT,
	OPT_NO_TAP, OPT_GO_ON, OPT_SOURCE_PID, OPT_DESTINATION_PID,
	OPT_BLOCKS, OPT_SENT, OPT_HASH_KEY, OPT_HELP
};

static const struct option longs[] = {
	{ "mode", 1, NULL, OPT_MODE }, { "ram", 1, NULL, OPT_RAM },
	{ "memory", 1, NULL, OPT_MEMORY }, { "cpus", 1, NULL, OPT_CPUS },
	{ "seed", 1, NULL, OPT_SEED }, { "fault", 1, NULL, OPT_FAULT },
	{ "harm", 1, NULL, OPT_HARM },
	{ "kernel", 1, NULL, OPT_KERNEL }, { "initrd", 1, NULL, OPT_INITRD },
	{ "append", 1, NULL, OPT_APPEND }, { "source", 1, NULL, OPT_SOURCE },
	{ "destination", 1, NULL, OPT_DESTINATION },
	{ "qemu", 1, NULL, OPT_QEMU }, { "accel", 1, NULL, OPT_ACCEL },
	{ "bandwidth", 1, NULL, OPT_BANDWIDTH },
	{ "deadline", 1, NULL, OPT_DEADLINE },
	{ "report", 1, NULL, OPT_REPORT }, { "no-tap", 0, NULL, OPT_NO_TAP },
	{ "go-on", 0, NULL, OPT_GO_ON },
	{ "source-pid", 1, NULL, OPT_SOURCE_PID },
	{ "destination-pid", 1, NULL, OPT_DESTINATION_PID },
	{ "blocks", 1, NULL, OPT_BLOCKS }, { "sent", 1, NULL, OPT_SENT },
	{ "hash-key", 1, NULL, OPT_HASH_KEY },
	{ "help", 0, NULL, OPT_HELP }, { NULL, 0, NULL, 0 },
};

static const char usage[] =
"usage: migration_agent [options]\n"
"Moves a virtual machine from one QEMU to another on this host, compares every\n"
"page of both, and explains what differs. Needs root.\n"
"\n"
"  --mode MODE       precopy (default), multifd, postcopy, ignore-shared,\n"
"                    xbzrle: precopy that sends what has changed in a page\n"
"  --report DIR      where report.txt, .json and .html go (default: here)\n"
"  --deadline N      seconds for the migration (default 60)\n"
"  --bandwidth SIZE  a second, while both run (default 64M)\n"
"  --no-tap          do not stand between both: hashes as sent are not known\n"
"  --go-on           let the destination go on as soon as it has all, and compare\n"
"                    meanwhile: what was seen there as it was sent is not read\n"
"                    again. Without it both stand still until it is compared\n"
"machines that run already, the destination with -incoming defer -S:\n"
"  --source SOCKET --destination SOCKET    their QMP\n"
"  --source-pid N --destination-pid N      behind a proxy: whose memory it is\n"
"or two processes, without a monitor, which somebody has stopped:\n"
"  --source-pid N --destination-pid N --blocks FILE\n"
"                    FILE is a map of blocks, as of pagedet_migrate(3)\n"
"  --sent FILE --hash-key FILE    BLOCK OFFSET HASH a line, numbers hex: all\n"
"                    pages that were sent, as they were sent last\n"
"or machines that are made for it, with a small guest that keeps writing:\n"
"  --ram KIND        anon (default), memfd, file\n"
"  --memory SIZE     such as 128M (default)\n"
"  --cpus N          (default 1)\n"
"  --kernel FILE --initrd FILE --append TEXT    another guest\n"
"  --qemu PROGRAM    (default qemu-system-x86_64)   --accel NAME (tcg)\n"
"for a try: harm is done, and must be found\n"
"  --seed N          which pages (default 1)\n"
"  --fault LIST      some of these; * needs --ram memfd or file:";

static const struct {
	const char *name, *capability;
	uint32_t mode;
} modes[] = {
	{ "precopy", NULL, PAGEDET_MODE_PRECOPY },
	{ "xbzrle", "xbzrle", PAGEDET_MODE_PRECOPY },
	{ "multifd", "multifd", PAGEDET_MODE_MULTIFD },
	{ "postcopy", "postcopy-ram", PAGEDET_MODE_POSTCOPY },
	{ "ignore-shared", "x-ignore-shared", PAGEDET_MODE_IGNORE_SHARED },
};

static int wrong(const char *option, const char *value, const char *what)
{
	return agent_fail(AGENT_USAGE, "--%s: '%s' is not %s", option, value,
			  what);
}

/* Parses a number with an optional K, M or G. */
static bool parse_size(const char *text, uint64_t *ret)
{
	static const char units[] = "KMG";
	unsigned shift = 0;
	const char *unit;
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit)
		shift = 10 * (unsigned)(unit - units + 1);
	if (*ret > UINT64_MAX >> shift || (unit ? end[1] : *end))
		return false;
	*ret <<= shift;
	return true;
}

static int number(const char *option, const char *text, uint64_t least,
		  uint64_t most, uint64_t *ret)
{
	uint64_t n;

	if (!parse_size(text, &n) || n < least || n > most)
		return agent_fail(AGENT_USAGE, "--%s: '%s' is not a number "
				  "from %llu to %llu", option, text,
				  (unsigned long long)least,
				  (unsigned long long)most);
	*ret = n;
	return 0;
}

static int set_mode(struct options *o, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(modes[i].name, name)) {
			o->mode = modes[i].mode;
			o->mode_name = name;
			o->capability = modes[i].capability;
			return 0;
		}
	return wrong("mode", name, "precopy, xbzrle, multifd, postcopy or "
		     "ignore-shared");
}

static int set_ram(struct options *o, const char *name)
{
	o->ram = name;
	if (!strcmp(name, "anon") || !strcmp(name, "memfd") ||
	    !strcmp(name, "file"))
		return 0;
	return wrong("ram", name, "anon, memfd or file");
}

static int set_fault(struct options *o, const char *list)
{
	o->faults = fault_parse(list);
	return o->faults ? 0 : wrong("fault", list, "a list of faults; --help "
				     "names them");
}

static int set_harm(struct options *o, const char *list)
{
	o->harm = !harm_parse(list);
	return o->harm ? 0 : wrong("harm", list, "a list of harms; --help "
				   "names them");
}

static int set(struct options *o, int option, const char *value)
{
	uint64_t n;
	int status = 0;

	switch (option) {
	case OPT_MODE:
		return set_mode(o, value);
	case OPT_RAM:
		return set_ram(o, value);
	case OPT_FAULT:
		return set_fault(o, value);
	case OPT_HARM:
		return set_harm(o, value);
	case OPT_MEMORY:
		o->memory = value;
		return number("memory", value, 32u << 20, 1ull << 36,
			      &o->memory_bytes);
	case OPT_CPUS:
		status = number("cpus", value, 1, 64, &n);
		if (!status)
			o->cpus = (unsigned)n;
		return status;
	case OPT_SEED:
		return number("seed", value, 0, UINT64_MAX, &o->seed);
	case OPT_BANDWIDTH:
		return number("bandwidth", value, 65536, 1ull << 40,
			      &o->bandwidth);
	case OPT_DEADLINE:
		status = number("deadline", value, 1, 86400, &n);
		if (!status)
			o->seconds = (unsigned)n;
		return status;
	case OPT_KERNEL:
		o->kernel = value;
		break;
	case OPT_INITRD:
		o->initrd = value;
		break;
	case OPT_APPEND:
		o->append = value;
		break;
	case OPT_SOURCE:
		o->sockets[SOURCE] = value;
		break;
	case OPT_DESTINATION:
		o->sockets[DESTINATION] = value;
		break;
	case OPT_QEMU:
		o->qemu = value;
		break;
	case OPT_ACCEL:
		o->accel = value;
		break;
	case OPT_REPORT:
		o->report = value;
		break;
	case OPT_SOURCE_PID:
	case OPT_DESTINATION_PID:
		status = number(option == OPT_SOURCE_PID ? "source-pid" :
				"destination-pid", value, 1, 1u << 30, &n);
		if (!status)
			o->pids[option == OPT_DESTINATION_PID] = (uint32_t)n;
		return status;
	case OPT_BLOCKS:
		o->blocks = value;
		break;
	case OPT_SENT:
		o->sent = value;
		break;
	case OPT_HASH_KEY:
		o->hash_key = value;
		break;
	case OPT_GO_ON:
		o->go_on = true;
		break;
	case OPT_NO_TAP:
		o->tap = false;
		break;
	default:
		return agent_fail(AGENT_USAGE, "try migration_agent --help");
	}
	return status;
}

static int check(struct options *o)
{
	const char *of_file = fault_of_file(o->faults);

	if (!o->sockets[SOURCE] != !o->sockets[DESTINATION])
		return agent_fail(AGENT_USAGE, "--source and --destination: "
				  "both or none");
	if (o->blocks && (!o->pids[SOURCE] || !o->pids[DESTINATION] ||
			  o->sockets[SOURCE] || o->faults || o->harm ||
			  o->go_on))
		return agent_fail(AGENT_USAGE, "--blocks needs --source-pid "
				  "and --destination-pid, and no machine");
	if (o->sent && (!o->blocks || !o->hash_key))
		return agent_fail(AGENT_USAGE, "--sent goes with --blocks and "
				  "--hash-key");
	if (!o->blocks && !o->sockets[SOURCE] &&
	    (o->pids[SOURCE] || o->pids[DESTINATION]))
		return agent_fail(AGENT_USAGE, "--source-pid and "
				  "--destination-pid go with --source or "
				  "--blocks");
	if (o->blocks)
		o->mode = PAGEDET_MODE_DUNNO;
	if (o->blocks)
		o->mode_name = "not known";
	if (o->mode == PAGEDET_MODE_IGNORE_SHARED && !o->sockets[SOURCE] &&
	    strcmp(o->ram, "file"))
		return agent_fail(AGENT_USAGE, "--mode ignore-shared needs "
				  "--ram file: both must map it");
	if ((o->faults || o->harm) && (o->kernel || o->sockets[SOURCE]))
		return agent_fail(AGENT_USAGE, "--fault and --harm know the "
				  "small guest only");
	if (!of_file)
		of_file = harm_of_file();
	if (of_file && !strcmp(o->ram, "anon"))
		return agent_fail(AGENT_USAGE, "%s needs --ram memfd or --ram "
				  "file", of_file);
	if ((o->initrd || o->append) && !o->kernel)
		return agent_fail(AGENT_USAGE, "--initrd and --append go with "
				  "--kernel");
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, bool *done)
{
	int status = 0, c;

	*o = (struct options){
		.mode = PAGEDET_MODE_PRECOPY, .mode_name = "precopy",
		.ram = "anon", .memory = "128M", .memory_bytes = 128u << 20,
		.accel = "tcg", .qemu = "qemu-system-x86_64", .report = ".",
		.bandwidth = 64u << 20, .seconds = 60, .cpus = 1, .seed = 1,
		.tap = true,
	};
	*done = false;
	while (!status && (c = getopt_long(argc, argv, "h", longs, NULL)) >= 0)
		if (c == OPT_HELP || c == 'h') {
			fputs(usage, stdout);
			fault_names(stdout);
			harm_names(stdout);
			*done = true;
			return 0;
		} else {
			status = set(o, c, optarg);
		}
	if (!status && optind < argc)
		status = agent_fail(AGENT_USAGE, "'%s' is not an option",
				    argv[optind]);
	return status ? status : check(o);
}
