/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads standard input byte by byte, for lists of any length. */
#include <errno.h>
#include <unistd.h>

#include "cli.h"

int cli_input_byte(struct cli_input *in, int *status)
{
	ssize_t n;

	if (in->at < in->len)
		return (unsigned char)in->buf[in->at++];
	if (in->ended)
		return -1;
	do {
		n = read(STDIN_FILENO, in->buf, sizeof(in->buf));
	} while (n < 0 && errno == EINTR && !cli_interrupted());
	if (n <= 0)
		in->ended = true;
	if (n < 0 && !cli_interrupted())
		*status = cli_fail_errno("cannot read standard input");
	if (n <= 0)
		return -1;
	in->at = 0;
	in->len = (size_t)n;
	return (unsigned char)in->buf[in->at++];
}
