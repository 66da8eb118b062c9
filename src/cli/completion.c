/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xdspub completion: scripts for shells. They ask `xdspub __complete LINE` (complete.h). */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"

/* Bash cuts words at the characters of COMP_WORDBREAKS: what stands before the last of those is
 * taken off the candidates. */
static const char bash_script[] =
	"# bash completion for xdspub\n"
	"_xdspub()\n"
	"{\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} cur candidate before='' breaks IFS=$'\\n'\n"
	"\tcur=${line##*[[:space:]]}\n"
	"\tbreaks=${COMP_WORDBREAKS//[^:=@]/}\n"
	"\tif [ -n \"$breaks\" ]; then\n"
	"\t\tbefore=${cur%\"${cur##*[$breaks]}\"}\n"
	"\tfi\n"
	"\tCOMPREPLY=()\n"
	"\twhile read -r candidate; do\n"
	"\t\tcase $candidate in\n"
	"\t\t:nospace) compopt -o nospace 2>/dev/null ;;\n"
	"\t\t:files)\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\tCOMPREPLY+=($(compgen -f -- \"${cur#\"$before\"}\")) ;;\n"
	"\t\t:folders)\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\tCOMPREPLY+=($(compgen -d -- \"${cur#\"$before\"}\")) ;;\n"
	"\t\t*) COMPREPLY+=(\"${candidate#\"$before\"}\") ;;\n"
	"\t\tesac\n"
	"\tdone < <(\"$1\" __complete \"$line\" 2>/dev/null)\n"
	"}\n"
	"complete -F _xdspub xdspub\n";

static const char zsh_script[] =
	"#compdef xdspub\n"
	"# zsh completion for xdspub\n"
	"_xdspub()\n"
	"{\n"
	"\tlocal line=\"${(j: :)words[1,CURRENT]}\" candidate\n"
	"\tlocal -a candidates options\n"
	"\tfor candidate in ${(f)\"$(\"${words[1]}\" __complete \"$line\" 2>/dev/null)\"}; do\n"
	"\t\tcase $candidate in\n"
	"\t\t(:nospace) options=(-S '') ;;\n"
	"\t\t(:files) _files ;;\n"
	"\t\t(:folders) _files -/ ;;\n"
	"\t\t(*) candidates+=(\"$candidate\") ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(( $#candidates )) && compadd \"${options[@]}\" -a candidates\n"
	"}\n"
	"if [ \"$funcstack[1]\" = _xdspub ]; then\n"
	"\t_xdspub \"$@\"\n"
	"else\n"
	"\tcompdef _xdspub xdspub\n"
	"fi\n";

static const char fish_script[] =
	"# fish completion for xdspub\n"
	"function __xdspub_complete\n"
	"\tset -l command (commandline -opc)[1]\n"
	"\tfor candidate in ($command __complete (commandline -cp | string collect) 2>/dev/null)\n"
	"\t\tswitch $candidate\n"
	"\t\t\tcase ':files'\n"
	"\t\t\t\t__fish_complete_path (commandline -ct)\n"
	"\t\t\tcase ':folders'\n"
	"\t\t\t\t__fish_complete_directories (commandline -ct) ''\n"
	"\t\t\tcase ':*'\n"
	"\t\t\tcase '*'\n"
	"\t\t\t\techo $candidate\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"complete -c xdspub -f -a '(__xdspub_complete)'\n";

static const struct {
	const char *name, *script;
} shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

static int run(const struct args *args)
{
	struct suggestion suggestion;
	char phrase[256];

	suggestion_init(&suggestion, slice_of(args->operands[0]));
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].name, args->operands[0]) == 0) {
			fputs(shells[i].script, stdout);
			return EXIT_FINE;
		}
		suggestion_offer(&suggestion, shells[i].name);
	}
	fprintf(stderr, "xdspub completion: no script for \"%s\"%s\n", args->operands[0],
		suggestion_phrase(&suggestion, phrase));
	return EXIT_USAGE;
}

const struct command command_completion = {
	.name = "completion",
	.synopsis = "bash|zsh|fish",
	.summary = "Print a script that completes commands, options and names in a shell",
	.details = "It is installed with the program. Without that:\n\n"
		   "  . <(xdspub completion bash)\n"
		   "  xdspub completion zsh > ~/.zfunc/_xdspub\n"
		   "  xdspub completion fish > ~/.config/fish/completions/xdspub.fish",
	.operands_min = 1,
	.operands_max = 1,
	.operands = OPERANDS_WORDS,
	.run = run,
};
