/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Migration settings. The original settings of machines that the agent did not
 * start are saved before any change, and restored.
 */
#include <string.h>

#include "agent.h"

#define CHANNELS 4

static int fail(const struct vm *vm, const char *what)
{
	return agent_fail(AGENT_UNAVAILABLE, "%s: the %s: %s", what, vm->name,
			  vm->qmp.error);
}

static json_t *one_capability(const char *name, bool state)
{
	return json_pack("{s:[{s:s, s:b}]}", "capabilities", "capability",
			 name, "state", state);
}

static int keep_capability(struct vm *vm, const char *name)
{
	json_t *list = qmp_ask(&vm->qmp, "query-migrate-capabilities", NULL);
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one) {
		const char *is = json_string_value(json_object_get(
			one, "capability"));

		if (is && !strcmp(is, name))
			vm->capability = one_capability(name, json_is_true(
				json_object_get(one, "state")));
	}
	json_decref(list);
	return vm->capability ? 0 : -1;
}

static int keep_parameters(struct vm *vm, const char *const *names)
{
	json_t *all = qmp_ask(&vm->qmp, "query-migrate-parameters", NULL);

	vm->parameters = all ? json_object() : NULL;
	for (; all && *names; names++)
		json_object_set(vm->parameters, *names,
				json_object_get(all, *names));
	json_decref(all);
	return vm->parameters ? 0 : -1;
}

static int keep(const struct agent *a, struct vm *vm)
{
	static const char *const names[] = { "max-bandwidth",
					     "multifd-channels", NULL };
	const char *name = a->o.capability;

	if (vm->ours)
		return 0;
	if ((name && keep_capability(vm, name)) || keep_parameters(vm, names))
		return fail(vm, "cannot tell how it is set");
	return 0;
}

int settings_bandwidth(struct vm *vm, uint64_t bytes)
{
	return qmp_do(&vm->qmp, "migrate-set-parameters",
		      json_pack("{s:I}", "max-bandwidth", (json_int_t)bytes));
}

int settings_set(const struct agent *a, struct vm *vm)
{
	const char *name = a->o.capability;
	const int status = keep(a, vm);

	if (status)
		return status;
	if (name && qmp_do(&vm->qmp, "migrate-set-capabilities",
			   one_capability(name, true)))
		return fail(vm, "cannot set the mode");
	if (a->o.mode == PAGEDET_MODE_MULTIFD &&
	    qmp_do(&vm->qmp, "migrate-set-parameters",
		   json_pack("{s:i}", "multifd-channels", CHANNELS)))
		return fail(vm, "cannot set the number of channels");
	if (vm == &a->vm[SOURCE] && settings_bandwidth(vm, a->o.bandwidth))
		return fail(vm, "cannot set the bandwidth");
	return 0;
}

static void give_back(struct vm *vm, const char *command, json_t **was)
{
	json_t *arguments = *was;

	*was = NULL;
	if (arguments && !vm->qmp.gone &&
	    qmp_do(&vm->qmp, command, arguments) && !vm->qmp.gone)
		agent_say("the %s could not be set as it was: %s", vm->name,
			  vm->qmp.error);
}

void settings_restore(struct vm *vm)
{
	give_back(vm, "migrate-set-capabilities", &vm->capability);
	give_back(vm, "migrate-set-parameters", &vm->parameters);
}
