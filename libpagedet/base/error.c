/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Formats error texts. The function that fails writes what it could not do.
 * Each caller may put its own context before it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"

int pdet_errno_closed(int code)
{
	switch (code) {
	case EINVAL: case E2BIG: case ENOMEM: case EACCES: case ENOENT:
	case ESRCH: case ENODATA: case EBADMSG: case EIO: case EOVERFLOW:
	case ENOTSUP: case ENOSYS: case EINTR: case EAGAIN: case ETIMEDOUT:
	case ECANCELED:
		return code;
	case EPERM:
		return EACCES;
	case ENOTDIR: case ENXIO: case ENODEV: case ELOOP:
		return ENOENT;
	case EMFILE: case ENFILE:
		return ENOMEM;
	case ENAMETOOLONG:
		return EINVAL;
	case ENOTTY:
		return ENOTSUP;
	default:
		return EIO;
	}
}

bool pdet_is_shortage(int r)
{
	return r == -ENOMEM || r == -EMFILE || r == -ENFILE;
}

int pdet_errno_kept(int code)
{
	return pdet_is_shortage(-code) ? code : pdet_errno_closed(code);
}

int pdet_fail(struct pdet_env *env, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(env->error, sizeof(env->error), fmt, ap);
	va_end(ap);
	env->advice[0] = '\0';
	return -pdet_errno_closed(code);
}

int pdet_fail_errno(struct pdet_env *env, const char *fmt, ...)
{
	int code = errno;
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(env->error, sizeof(env->error), fmt, ap);
	va_end(ap);
	env->advice[0] = '\0';
	len = strlen(env->error);
	errno = code;
	snprintf(env->error + len, sizeof(env->error) - len, ": %m");
	return -pdet_errno_closed(code);
}

void pdet_context(struct pdet_env *env, const char *fmt, ...)
{
	char inner[PDET_ERROR_SIZE];
	size_t len;
	va_list ap;

	memcpy(inner, env->error, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(env->error, sizeof(env->error), fmt, ap);
	va_end(ap);
	len = strlen(env->error);
	snprintf(env->error + len, sizeof(env->error) - len, ": %s", inner);
}

void pdet_add_words(struct pdet_env *env, const char *fmt, ...)
{
	const size_t len = strlen(env->error);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(env->error + len, sizeof(env->error) - len, fmt, ap);
	va_end(ap);
}

void pdet_advise(struct pdet_env *env, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(env->advice, sizeof(env->advice), fmt, ap);
	va_end(ap);
}

void pdet_clear(struct pdet_env *env)
{
	env->error[0] = '\0';
	env->advice[0] = '\0';
}

void pdet_take_words(struct pdet_env *env, const struct pdet_env *from)
{
	memcpy(env->error, from->error, sizeof(env->error));
	memcpy(env->advice, from->advice, sizeof(env->advice));
}

void pdet_log(struct pdet_env *env, int level, const char *fmt, ...)
{
	char text[PDET_ERROR_SIZE];
	va_list ap;

	if (!env->log || level > env->log_level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	env->log(env->log_user, level, text);
}
