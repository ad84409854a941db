/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes and reads evidence files for another host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* A mismatch has at most about a million pages. */
#define LONGEST ((size_t)1 << 30)

static int read_all(FILE *f, char **ret, size_t *len)
{
	size_t cap = 65536, n = 0;
	char *data = malloc(cap), *more;

	while (data) {
		n += fread(data + n, 1, cap - n, f);
		if (n < cap)
			break;
		if (cap >= LONGEST) {
			free(data);
			errno = EFBIG;
			return -1;
		}
		cap *= 2;
		more = realloc(data, cap);
		if (!more)
			free(data);
		data = more;
	}
	if (!data)
		return -1;
	if (ferror(f)) {
		free(data);
		return -1;
	}
	*ret = data;
	*len = n;
	return 0;
}

static int load(struct pagedet *pd, const void *bytes, size_t len,
		struct pagedet_evidence **ret, uint64_t *n)
{
	struct pagedet_evidence *e;
	int count = pagedet_evidence_load(pd, bytes, len, NULL, 0);

	if (count < 0)
		return cli_fail(pd, count);
	e = calloc((size_t)count + 1, sizeof(*e));
	if (!e)
		return cli_fail_errno("--peer");
	e->size = sizeof(*e);
	count = pagedet_evidence_load(pd, bytes, len, e, (uint64_t)count);
	*ret = e;
	*n = (uint64_t)count;
	return CLI_ANSWERED;
}

int cli_peer_load(struct pagedet *pd, const char *path,
		  struct pagedet_evidence **ret, uint64_t *n)
{
	FILE *f = fopen(path, "rbe");
	char *bytes;
	size_t len;
	int status;

	if (!f)
		return cli_fail_errno("cannot read '%s'", path);
	if (read_all(f, &bytes, &len) < 0) {
		status = cli_fail_errno("cannot read '%s'", path);
		fclose(f);
		return status;
	}
	fclose(f);
	status = load(pd, bytes, len, ret, n);
	free(bytes);
	return status;
}

int cli_peer_save(struct pagedet *pd, const char *path,
		  const struct pagedet_evidence *evidence, uint64_t n)
{
	struct cli_output out;
	uint64_t size;
	void *bytes;
	int error, status;

	error = pagedet_evidence_save(pd, evidence, n, NULL, 0, &size);
	if (error)
		return cli_fail(pd, error);
	bytes = malloc(size);
	if (!bytes)
		return cli_fail_errno("--save");
	error = pagedet_evidence_save(pd, evidence, n, bytes, size, &size);
	status = cli_output_open(&out, path);
	if (!status)
		status = error ? cli_fail(pd, error) :
				 cli_output_write(out.fd, bytes, size);
	free(bytes);
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}
