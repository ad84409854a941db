/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests whether a log belongs to the running boot. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "query/walk/log_boot.h"
#include "../../unit.h"

#define EVENT "Memory failure: 0x1234: recovery action for free buddy page: " \
	      "Recovered"
#define STAMP_US 100000001

static const char banner[] = "Linux version 6.1.0 (a@b) (gcc 12) #1 SMP x";

/* A machine with one record in its log. */
static int kernel_log(struct pdet_backend *b, struct pdet_env *env,
		      pagedet_log_record_fn *fn, void *user, uint64_t *lost)
{
	const struct pagedet_log_record r = {
		.size = sizeof(r), .time_ns = STAMP_US * 1000ull + 400,
		.text = "usb 1-1: x\n" EVENT,
		.len = sizeof("usb 1-1: x\n" EVENT) - 1,
	};

	(void)b;
	(void)env;
	*lost = 0;
	return fn(user, &r);
}

static const struct pdet_backend_ops with_log = {
	.name = "fake", .kernel_log = kernel_log
};
static const struct pdet_backend_ops without = { .name = "fake" };

static void write_file(const char *root, const char *path, const char *text)
{
	char name[512];
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", root, path);
	f = fopen(name, "w");
	if (!f)
		abort();
	fprintf(f, "%s\n", text);
	fclose(f);
}

static char root[] = "/tmp/test_log_boot.XXXXXX";

static void set_up(void)
{
	char path[512];
	static const char *const dirs[] = {
		"/proc", "/proc/sys", "/proc/sys/kernel",
		"/proc/sys/kernel/random",
	};
	size_t i;

	if (!mkdtemp(root))
		abort();
	for (i = 0; i < PDET_COUNT(dirs); i++) {
		snprintf(path, sizeof(path), "%s%s", root, dirs[i]);
		if (mkdir(path, 0700))
			abort();
	}
	write_file(root, "/proc/version", banner);
	write_file(root, "/proc/sys/kernel/random/boot_id",
		   "6f1c3a0e-9d8b-4c52-a7e6-f00112233445");
}

static void tear_down(void)
{
	char cmd[600];

	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	if (system(cmd))
		abort();
}

static enum pdet_log_of of(const char *text, bool has_log)
{
	struct pdet_backend b = { .ops = has_log ? &with_log : &without };
	struct pdet_backend *const backends[] = { &b };
	struct pdet_scan s = { text, text + strlen(text) }, line;
	struct pdet_running running = { .live = true };
	struct pdet_env env = { .root = root };
	struct pdet_log *log = pdet_log_new();
	const struct pdet_log_page *p;
	enum pdet_log_of ret;

	while (pdet_scan_line(&s, &line))
		ck_assert_int_eq(pdet_log_feed(log, line), 0);
	ck_assert_int_eq(pdet_log_end(log, false), 0);
	p = pdet_log_take(log);
	ck_assert_ptr_nonnull(p);
	ret = pdet_running_of(&running, &env, backends, 1, p);
	ck_assert_str_eq(env.error, "");
	pdet_running_free(&running);
	pdet_log_free(log);
	return ret;
}

START_TEST(by_line)
{
	ck_assert_int_eq(of(EVENT "\n", true), PDET_LOG_OF_UNKNOWN);
	ck_assert_int_eq(of("[  100.000001] " EVENT "\n", true),
			 PDET_LOG_OF_THIS);
	ck_assert_int_eq(of("6,99,100000001,-;" EVENT "\n", true),
			 PDET_LOG_OF_THIS);
	ck_assert_int_eq(of("Nov 2 12:03:02 h kernel: [  100.000001] " EVENT
			    "\n", true), PDET_LOG_OF_THIS);
	ck_assert_int_eq(of("[  100.000002] " EVENT "\n", true),
			 PDET_LOG_OF_UNKNOWN);
	ck_assert_int_eq(of("[  100.000001] " EVENT "!\n", true),
			 PDET_LOG_OF_UNKNOWN);
	ck_assert_int_eq(of("[  100.000001] " EVENT "\n", false),
			 PDET_LOG_OF_UNKNOWN);
}
END_TEST

/* A journal has the time of day instead of the time since boot. */
START_TEST(by_time_of_day)
{
	const int64_t real = (int64_t)pdet_clock_ns(CLOCK_REALTIME);
	const int64_t up = (int64_t)pdet_clock_ns(CLOCK_MONOTONIC);
	time_t at = (time_t)((real - up) / 1000000000 + STAMP_US / 1000000);
	char text[256], when[64];
	struct tm tm;

	localtime_r(&at, &tm);
	strftime(when, sizeof(when), "%b %d %H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s h kernel: %s\n", when, EVENT);
	ck_assert_int_eq(of(text, true), PDET_LOG_OF_THIS);
	at += 3600;
	localtime_r(&at, &tm);
	strftime(when, sizeof(when), "%b %d %H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s h kernel: %s\n", when, EVENT);
	ck_assert_int_eq(of(text, true), PDET_LOG_OF_UNKNOWN);
}
END_TEST

START_TEST(by_boot_id)
{
	ck_assert_int_eq(of("-- Boot 6f1c3a0e9d8b4c52a7e6f00112233445 --\n"
			    EVENT "\n", false), PDET_LOG_OF_THIS);
	ck_assert_int_eq(of("-- Boot 6f1c3a0e9d8b4c52a7e6f00112233446 --\n"
			    "[  100.000001] " EVENT "\n", true),
			 PDET_LOG_OF_OTHER);
	ck_assert_int_eq(of("-- Boot 6f1c3a0e9d8b4c52a7e6f00112233445 --\n"
			    "-- Reboot --\n" EVENT "\n", false),
			 PDET_LOG_OF_UNKNOWN);
}
END_TEST

START_TEST(by_banner)
{
	const int64_t booted = (int64_t)((pdet_clock_ns(CLOCK_REALTIME) -
					  pdet_clock_ns(CLOCK_BOOTTIME)) /
					 1000000000);
	char text[512];
	int late;

	snprintf(text, sizeof(text), "[    0.000000] %s\n" EVENT "\n", banner);
	ck_assert_int_eq(of(text, false), PDET_LOG_OF_UNKNOWN);
	snprintf(text, sizeof(text), "[    0.000000] %s2\n[  100.000001] "
		 EVENT "\n", banner);
	ck_assert_int_eq(of(text, true), PDET_LOG_OF_OTHER);
	for (late = 0; late <= 9000; late += 9000) {
		snprintf(text, sizeof(text), "[    0.000000] %s\n"
			 "[    7.500000] rtc_cmos 00:04: setting system clock "
			 "to 2026-11-24T13:09:26 UTC (%lld)\n" EVENT "\n",
			 banner, (long long)booted + 7 - late);
		ck_assert_int_eq(of(text, false), late ? PDET_LOG_OF_OTHER :
							 PDET_LOG_OF_THIS);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("log_boot");
	int status;

	set_up();
	unit_test(s, by_line);
	unit_test(s, by_time_of_day);
	unit_test(s, by_boot_id);
	unit_test(s, by_banner);
	status = unit_main(s);
	tear_down();
	return status;
}
