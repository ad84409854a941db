# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#
# Macros of this project. Each part that may be missing adds one line to the
# summary that configure ends with, and that line says how to turn it on.

# PDET_SUMMARY(NAME, STATE, PURPOSE, HOW)
# STATE is a shell word; HOW is shown unless it is "yes".
AC_DEFUN([PDET_SUMMARY], [
AS_IF([test "x$2" = xyes],
	[AS_VAR_APPEND([pdet_summary], ["
  $1: yes - $3"])],
	[AS_VAR_APPEND([pdet_summary], ["
  $1: $2 - $3
      to turn it on: $4"])])
])

# PDET_ENABLE(NAME, PURPOSE)
# --enable-NAME, default no; sets $enable_NAME and adds a line to the summary.
AC_DEFUN([PDET_ENABLE], [
AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [$2])], [], [enable_$1=no])
AS_CASE(["$enable_$1"], [yes|no], [],
	[AC_MSG_ERROR([--enable-$1 takes yes or no])])
PDET_SUMMARY([$1], [$enable_$1], [$2], [--enable-$1])
])

# PDET_FIND(NAME, VAR, MODULES, PURPOSE, DEBIAN-PACKAGES)
# --with-NAME=auto|yes|no. Looks for pkg-config MODULES; gives VAR_CFLAGS,
# VAR_LIBS, the automake conditional HAVE_VAR and $pdet_have_VAR.
AC_DEFUN([PDET_FIND], [
AC_REQUIRE([PKG_PROG_PKG_CONFIG])
m4_pushdef([pdet_with], [with_]m4_translit([$1], [-], [_]))
AC_ARG_WITH([$1],
	[AS_HELP_STRING([--with-$1=auto|yes|no], [$4 (default auto)])],
	[], [pdet_with=auto])
pdet_have_$2=no
AS_CASE(["$pdet_with"],
	[auto|yes], [PKG_CHECK_MODULES([$2], [$3],
		[pdet_have_$2=yes], [pdet_have_$2=no])],
	[no], [],
	[AC_MSG_ERROR([--with-$1 takes auto, yes or no])])
AS_IF([test "x$pdet_with$pdet_have_$2" = xyesno],
	[AC_MSG_ERROR([--with-$1=yes, but pkg-config does not find $3
(on Debian: apt-get install $5)])])
AM_CONDITIONAL([HAVE_$2], [test "x$pdet_have_$2" = xyes])
PDET_SUMMARY([$1], [$pdet_have_$2], [$4],
	[--with-$1=yes (on Debian: apt-get install $5)])
m4_popdef([pdet_with])
])

# PDET_OPTIONAL(NAME, VAR, MODULES, PURPOSE, DEBIAN-PACKAGES)
# A library that libpagedet uses where it is found: PDET_FIND, and HAVE_VAR in
# config.h, and its modules in $PDET_REQUIRES, which static linking asks for.
AC_DEFUN([PDET_OPTIONAL], [
PDET_FIND([$1], [$2], [$3], [$4], [$5])
AS_IF([test "x$pdet_have_$2" = xyes], [
	AC_DEFINE([HAVE_$2], [1], [Define to 1 to use $1: $4.])
	AS_VAR_APPEND([PDET_REQUIRES], ["${PDET_REQUIRES:+, }$3"])])
])

# PDET_REQUIRED(VAR, MODULES, DEBIAN-PACKAGES)
# A library without which there is no libpagedet.
AC_DEFUN([PDET_REQUIRED], [
AC_REQUIRE([PKG_PROG_PKG_CONFIG])
PKG_CHECK_MODULES([$1], [$2], [],
	[AC_MSG_ERROR([needs $2 (on Debian: apt-get install $3)])])
AS_VAR_APPEND([PDET_REQUIRES], ["${PDET_REQUIRES:+, }$2"])
])

# PDET_FLAGS(VAR, CHECK-VAR, FLAGS)
# Appends those of FLAGS to VAR that the compiler takes; CHECK-VAR (CFLAGS or
# LDFLAGS) is where they are tried.
AC_DEFUN([PDET_FLAGS], [
AC_LANG_ASSERT([C])
for pdet_flag in m4_normalize([$3]); do
	AS_VAR_PUSHDEF([pdet_cv], [pdet_cv_$2_$pdet_flag])
	AC_CACHE_CHECK([whether $CC takes $pdet_flag], [pdet_cv], [
		pdet_saved=$$2
		$2="$$2 -Werror $pdet_flag"
		AC_LINK_IFELSE([AC_LANG_PROGRAM()],
			[AS_VAR_SET([pdet_cv], [yes])],
			[AS_VAR_SET([pdet_cv], [no])])
		$2=$pdet_saved])
	AS_VAR_IF([pdet_cv], [yes], [AS_VAR_APPEND([$1], [" $pdet_flag"])])
	AS_VAR_POPDEF([pdet_cv])
done
])

# PDET_BACKENDS(KNOWN)
# --with-backends=LIST out of KNOWN (blank-separated). For each one that is
# wanted: WITH_BACKEND_NAME in config.h and the automake conditional
# BACKEND_NAME.
AC_DEFUN([PDET_BACKENDS], [
AC_ARG_WITH([backends],
	[AS_HELP_STRING([--with-backends=LIST],
		[sources of answers to build in, separated by commas, out of:
		 $1 (default all)])],
	[], [with_backends=all])
AS_CASE(["$with_backends"],
	[all|yes], [pdet_backends="$1"],
	[no|""], [AC_MSG_ERROR([--with-backends takes some of: $1])],
	[pdet_backends=`AS_ECHO(["$with_backends"]) | tr ',' ' '`])
for pdet_backend in $pdet_backends; do
	AS_CASE([" $1 "], [*" $pdet_backend "*], [],
		[AC_MSG_ERROR([--with-backends: there is no $pdet_backend, only: $1])])
done
AC_SUBST([BACKENDS_BUILT], [$pdet_backends])
AC_SUBST([BACKENDS_KNOWN], ['$1'])
m4_foreach_w([pdet_name], [$1], [
m4_pushdef([PDET_NAME], m4_toupper(pdet_name))
pdet_wanted=no
AS_CASE([" $pdet_backends "], [*" ]pdet_name[ "*], [pdet_wanted=yes])
AS_IF([test $pdet_wanted = yes],
	[AC_DEFINE([WITH_BACKEND_]PDET_NAME, [1],
		[Define to 1 to build in the source ]pdet_name[.])])
AM_CONDITIONAL([BACKEND_]PDET_NAME, [test $pdet_wanted = yes])
PDET_SUMMARY([backend ]pdet_name, [$pdet_wanted], [a source of answers],
	[name it in --with-backends])
m4_popdef([PDET_NAME])
])
])
