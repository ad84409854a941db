/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Starts machines, or finds running ones behind their monitor's socket. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

#define START_MS 10000
#define MAX_WORDS 40

struct words {
	char *word[MAX_WORDS + 1];
	char text[8][512];
	unsigned n, n_text;
};

static void add(struct words *w, const char *word)
{
	if (w->n < MAX_WORDS)
		w->word[w->n++] = (char *)word;
}

static void add_pair(struct words *w, const char *option, const char *value)
{
	add(w, option);
	add(w, value);
}

static char *room(struct words *w)
{
	return w->text[w->n_text++];
}

#define ROOM sizeof(((struct words *)0)->text[0])

/* If memory is not sent at all, both machines map the same file. */
static void add_ram(struct agent *a, struct words *w, int side)
{
	const bool one = a->o.mode == PAGEDET_MODE_IGNORE_SHARED;
	char *object = room(w);

	if (!strcmp(a->o.ram, "anon"))
		return;
	if (!strcmp(a->o.ram, "memfd"))
		snprintf(object, ROOM, "memory-backend-memfd,id=ram,size=%s,"
			 "share=on", a->o.memory);
	else
		snprintf(object, ROOM, "memory-backend-file,id=ram,size=%s,"
			 "share=on,mem-path=%s/%s", a->o.memory, a->ram_dir,
			 one ? "both" : a->vm[side].name);
	add_pair(w, "-object", object);
}

static void command_line(struct agent *a, struct words *w, int side,
			 const char *socket)
{
	const bool anon = !strcmp(a->o.ram, "anon");
	char *cpus = room(w), *qmp = room(w), *kernel = room(w);

	snprintf(cpus, ROOM, "%u", a->o.cpus);
	snprintf(qmp, ROOM, "unix:%s,server=on,wait=off", socket);
	snprintf(kernel, ROOM, "%s/guest", a->dir);
	add(w, a->o.qemu);
	add_pair(w, "-accel", a->o.accel);
	add_pair(w, "-machine", anon ? "pc" : "pc,memory-backend=ram");
	add(w, "-nodefaults");
	add(w, "-no-user-config");
	add_pair(w, "-display", "none");
	add_pair(w, "-m", a->o.memory);
	add_pair(w, "-smp", cpus);
	add_ram(a, w, side);
	add_pair(w, "-kernel", a->o.kernel ? a->o.kernel : kernel);
	if (a->o.initrd)
		add_pair(w, "-initrd", a->o.initrd);
	if (a->o.append)
		add_pair(w, "-append", a->o.append);
	add_pair(w, "-qmp", qmp);
	if (side == DESTINATION) {
		add_pair(w, "-incoming", "defer");
		add(w, "-S");
	}
}

/*
 * The machine ends when the agent does, for any reason. Why there is none goes
 * to @failed, an errno.
 */
static void become(char **words, const char *log, pid_t agent, int failed)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			     0600);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != agent)
		_exit(126);	/* the agent ended before that */
	if (null >= 0 && out >= 0 && dup2(null, 0) >= 0 && dup2(out, 1) >= 0 &&
	    dup2(out, 2) >= 0)
		execvp(words[0], words);
	if (write(failed, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

/* Starts it, and waits until its program runs. */
static int run(struct vm *vm, char **words, const char *log)
{
	const pid_t agent = getpid();
	int failed[2], error;
	ssize_t n;

	if (pipe2(failed, O_CLOEXEC))
		return agent_fail_errno(AGENT_UNAVAILABLE, "cannot start the "
					"%s", vm->name);
	vm->pid = fork();
	if (!vm->pid)
		become(words, log, agent, failed[1]);
	vm->ours = vm->pid > 0;
	error = vm->ours ? 0 : errno;
	close(failed[1]);
	do
		n = vm->ours ? read(failed[0], &error, sizeof(error)) : 0;
	while (n < 0 && errno == EINTR);
	close(failed[0]);
	return error ? agent_fail(AGENT_UNAVAILABLE, "cannot run %s: %s",
				  words[0], strerror(error)) : 0;
}

static void say_log(const struct vm *vm, const char *path)
{
	char text[1024];
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	if (n)
		agent_say("the %s said: %s", vm->name, text);
}

/* Gets its version, as "7.2.22". */
static void ask_version(struct vm *vm)
{
	json_t *answer = qmp_ask(&vm->qmp, "query-version", NULL);
	int x = 0, y = 0, z = 0;

	if (!json_unpack(answer, "{s:{s:i, s:i, s:i}}", "qemu", "major", &x,
			 "minor", &y, "micro", &z))
		snprintf(vm->version, sizeof(vm->version), "%d.%d.%d", x, y, z);
	json_decref(answer);
}

/*
 * The process at the other end of the socket is the machine, unless @pid says
 * that it is a proxy.
 */
static int find_pid(struct vm *vm, uint32_t pid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (vm->ours)
		return 0;
	if (pid) {
		vm->pid = (pid_t)pid;
		return 0;
	}
	if (getsockopt(vm->qmp.fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) ||
	    peer.pid <= 0)
		return agent_fail_errno(AGENT_UNAVAILABLE,
					"cannot tell the pid of the %s",
					vm->name);
	vm->pid = peer.pid;
	return 0;
}

static int connect_to(struct vm *vm, const char *path, unsigned ms,
		      uint32_t pid)
{
	if (qmp_open(&vm->qmp, path, agent_clock() + ms))
		return agent_fail(AGENT_UNAVAILABLE, "cannot talk to the %s: "
				  "%s", vm->name, vm->qmp.error);
	ask_version(vm);
	return find_pid(vm, pid);
}

int vm_attach(struct agent *a, int side)
{
	return connect_to(&a->vm[side], a->o.sockets[side], 0,
			  a->o.pids[side]);
}

int vm_start(struct agent *a, int side)
{
	struct vm *vm = &a->vm[side];
	struct words w = { .n = 0 };
	char socket[96], log[96];
	int status;

	snprintf(socket, sizeof(socket), "%s/%s.qmp", a->dir, vm->name);
	snprintf(log, sizeof(log), "%s/%s.log", a->dir, vm->name);
	command_line(a, &w, side, socket);
	status = run(vm, w.word, log);
	if (status)
		return status;
	status = connect_to(vm, socket, START_MS, 0);
	if (status)
		say_log(vm, log);
	return status;
}

bool vm_alive(struct vm *vm)
{
	if (vm->dead)
		return false;
	if (vm->ours)
		vm->dead = waitpid(vm->pid, NULL, WNOHANG) != 0;
	else
		vm->dead = kill(vm->pid, 0) && errno == ESRCH;
	vm->dead |= vm->qmp.gone;
	return !vm->dead;
}

int vm_status(struct vm *vm)
{
	const char *status = NULL;
	int running = 0, r;
	json_t *answer;

	if (vm->given)
		return given_status(vm);
	answer = qmp_ask(&vm->qmp, "query-status", NULL);
	r = json_unpack(answer, "{s:s, s:b}", "status", &status, "running",
			&running);
	if (!r) {
		snprintf(vm->status, sizeof(vm->status), "%s", status);
		vm->frozen = running ? PAGEDET_NO : PAGEDET_YES;
	} else {
		vm->frozen = PAGEDET_DUNNO;
		vm_alive(vm);
	}
	json_decref(answer);
	return r ? -1 : 0;
}

/*
 * Waits for the guest. The agent's own guest reports when it has written all
 * its pages. Another guest gets time to run its own programs and --append.
 */
int vm_wait_guest(struct agent *a)
{
	const uint64_t until = agent_clock() + START_MS;
	const uint64_t page = join_page(a, a->blocks[0].name, 0) +
			      GUEST_STAMPED_AT / PAGE_BYTES;
	uint32_t words[PAGE_BYTES / 4];

	if (a->o.kernel || a->o.sockets[SOURCE]) {
		if (vm_status(&a->vm[SOURCE]) ||
		    a->vm[SOURCE].frozen == PAGEDET_DUNNO)
			return agent_fail(AGENT_UNAVAILABLE, "the source: %s",
					  a->vm[SOURCE].qmp.error);
		return 0;
	}
	while (look_bytes(a, SOURCE, page, words) <= 0 ||
	       words[0] != GUEST_STAMPED) {
		if (agent_clock() > until || !vm_alive(&a->vm[SOURCE]))
			return agent_fail(AGENT_UNAVAILABLE, "the guest does "
					  "not start");
		agent_sleep(20);
	}
	return 0;
}

void vm_end(struct vm *vm)
{
	qmp_close(&vm->qmp);
	if (!vm->ours || vm->pid <= 0)
		return;
	if (!vm->dead || waitpid(vm->pid, NULL, WNOHANG) == 0)
		kill(vm->pid, SIGKILL);
	waitpid(vm->pid, NULL, 0);
	vm->pid = 0;
}
