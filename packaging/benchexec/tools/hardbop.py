# Tool-info module of BenchExec for hardbop.
#
# Try it with
#   PYTHONPATH=packaging/benchexec python3 -m benchexec.test_tool_info tools.hardbop --no-container
# with the directory of the binary on PATH.

import benchexec.result as result
import benchexec.tools.template


class Tool(benchexec.tools.template.BaseTool2):
    """Hardbop: a software model checker for C and for boolean programs."""

    def executable(self, tool_locator):
        return tool_locator.find_executable("hardbop", subdir="bin")

    def name(self):
        return "Hardbop"

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="hardbop")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "check", "--no-trace", *options]
        if task.property_file:
            command += ["--property", task.property_file]
        data_model = (task.options or {}).get("data_model") if isinstance(task.options, dict) else None
        if data_model and "--data-model" not in options:
            command += ["--data-model", data_model.lower()]
        if rlimits.cputime and "--cpu-limit" not in options:
            # Time to tell what is known before the hard limit ends the process.
            command += ["--cpu-limit", str(max(1, int(rlimits.cputime * 0.95) - 1))]
        if rlimits.walltime and "--time-limit" not in options:
            command += ["--time-limit", str(max(1, int(rlimits.walltime * 0.95) - 1))]
        if rlimits.memory and "--memory-limit" not in options:
            command += ["--memory-limit", str(max(64, int(rlimits.memory / (1 << 20) * 0.95)))]
        return [*command, *task.input_files_or_identifier]

    def determine_result(self, run):
        if run.was_timeout or run.was_terminated:
            return result.RESULT_UNKNOWN
        for line in reversed(run.output):
            if line.startswith("result: "):
                word = line[len("result: ") :].split(",")[0].strip()
                if word == "true":
                    return result.RESULT_TRUE_PROP
                if word.startswith("false(") and word.endswith(")"):
                    return f"{result.RESULT_FALSE_PROP}({word[6:-1]})"
                return result.RESULT_UNKNOWN
        # Without a property there is no such line: the exit code says the worst answer.
        code = run.exit_code.value
        if code == 0:
            return result.RESULT_DONE
        if code == 1:
            return result.RESULT_FALSE_PROP
        if code == 3:
            return result.RESULT_UNKNOWN
        return result.RESULT_ERROR

    def get_value_from_output(self, output, identifier):
        """A figure of --stats, e.g. `rounds`."""
        for line in output:
            for part in line.split(", "):
                number, _, name = part.strip().partition(" ")
                if name == identifier:
                    return number
        return None
