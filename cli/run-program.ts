import { type Command, CommanderError, InvalidArgumentError } from 'commander';
import { ServiceError } from '../lib/foundation/errors.ts';
import { toLoggable } from '../lib/foundation/log.ts';
import { exitCodes, exitErrorCode } from './command-result.ts';
import { findCommand, getCommandPath } from './command-tree.ts';
import { findSelection } from './connect.ts';
import { describeCredentialError, describeTableError } from './describe-aws-error.ts';
import { nameOptions } from './name-options.ts';
import { findInterruptCode, type Terminal, toPrintable } from './output.ts';
import { createProgram } from './program.ts';

/** Runs the command of the arguments and returns its exit code. Reports errors on standard error. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = createProgram(terminal);
  try {
    await program.parseAsync(addDefaultCommand(program, args), { from: 'user' });
    return findInterruptCode(program) ?? exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError && (error.exitCode === 0 || error.code === exitErrorCode))
      return findInterruptCode(program) ?? error.exitCode;
    const exitCode = reportError(error, program, terminal);
    return findInterruptCode(program) ?? exitCode;
  }
}

/** Without a command, a selected service shows its state. A running local service needs no selection. */
function addDefaultCommand(program: Command, args: readonly string[]): readonly string[] {
  const { operands, unknown } = program.parseOptions([...args]);
  if (operands.length > 0 || unknown.length > 0) return args;
  const selection = findSelection(program.opts());
  return selection ? [...args, ...selection, 'status'] : args;
}

function reportError(error: unknown, program: Command, { writeErr }: Terminal): number {
  const isJson = program.opts().json === true;
  const report = isMissingCommand(error) ? describeMissingCommand(program) : describeError(error, program);
  // Commander has printed its own errors, with the help of the command.
  const isPrinted = error instanceof CommanderError && !(error instanceof InvalidArgumentError);
  if (isJson) writeErr(`${toPrintable(JSON.stringify({ ok: false, ...report }))}\n`);
  else if (!isPrinted) writeErr(`${toPrintable(formatReport(report))}\n`);
  return error instanceof CommanderError ? exitCodes.wrongUsage : exitCodes.failed;
}

/** Commander prints the help of the command then, and its error is without message. */
const isMissingCommand = (error: unknown): boolean =>
  error instanceof CommanderError && error.code === 'commander.help';

function describeMissingCommand(program: Command): ErrorReport {
  const paths = findCommand(program, program.args).commands.map(getCommandPath);
  return { code: 'WrongUsage', message: `Pass a command: ${paths.join(', ')}.` };
}

/** An error as `--json` prints it. */
interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly cause?: string;
  /** Results before the failure, such as `removed`. */
  readonly data?: Readonly<Record<string, unknown>>;
}

function describeError(error: unknown, program: Command): ErrorReport {
  if (error instanceof CommanderError) return { code: 'WrongUsage', message: error.message.replace(/^error: /, '') };
  if (!(error instanceof ServiceError))
    return {
      code: 'InternalError',
      message: describeCredentialError(error) ?? (error instanceof Error ? error.message : String(error)),
    };
  const cause = describeCause(error.cause);
  const { code, data } = error;
  const problem = code === 'DatabaseError' ? describeTableError(error.cause, process.env.TABLE_NAME) : undefined;
  const message = problem ?? nameOptions(error.message, findCommand(program, program.args));
  const hasData = Object.keys(data).length > 0;
  return { code, message, ...(cause !== undefined && { cause }), ...(hasData && { data }) };
}

/**
 * Describes the internal reason without secrets: the operator must learn that, for example, a permission is missing.
 */
function describeCause(cause: unknown): string | undefined {
  if (cause === undefined) return undefined;
  const loggable = toLoggable(cause);
  if (cause instanceof Error) return `${cause.name}: ${(loggable as { message: string }).message}`;
  return typeof loggable === 'string' ? loggable : JSON.stringify(loggable);
}

const formatReport = ({ message, cause }: ErrorReport): string =>
  cause === undefined ? message : `${message}\nCause: ${cause}`;
