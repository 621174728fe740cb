import { ServiceError } from './errors.ts';
import { omitUndefined } from './omit-undefined.ts';
import { createRedactor, redactSecretPatterns } from './redaction/redact-text.ts';
import { sanitize } from './redaction/sanitize.ts';

/** Location of an error: app, endpoint or worker, and event. */
export interface LogContext {
  readonly app?: string | undefined;
  /** Id of a contract or notification endpoint. */
  readonly endpoint?: string | undefined;
  /** Id of a worker, as in infra/worker-definitions.ts. */
  readonly worker?: string | undefined;
  readonly eventId?: string | undefined;
  /** Read by a metric filter, as are `level` and `code`; see infra/failure-metrics.ts. */
  readonly problem?:
    | 'DueItemsLate'
    | 'NotificationDelayed'
    | 'RefundStatementLost'
    | 'RowUnreadable'
    | 'StoreSilent'
    | 'StreamRecordSkipped'
    | 'WebhookDead'
    | 'WebhookUrlFailing'
    | undefined;
  readonly [detail: string]: string | undefined;
}

/**
 * Logs an error as one object, without secrets. Lambda's JSON log format writes the object to the field `message` of
 * the line.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
 */
export function logError(context: LogContext, error: ServiceError, secrets: Iterable<string> = []): void {
  console.error(buildLogEntry('error', { context, error, secrets }));
}

/** Runs the work of one item, such as a stream record. Logs and returns its error, which must not end the others. */
export async function catchFailure(
  context: LogContext,
  run: () => Promise<unknown>,
): Promise<ServiceError | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    logError(context, failure);
    return failure;
  }
}

/** Logs an error that the client caused, as `logError` does. */
export function logWarning(context: LogContext, error: ServiceError, secrets: Iterable<string> = []): void {
  console.warn(buildLogEntry('warning', { context, error, secrets }));
}

interface LogInput {
  readonly context: LogContext;
  readonly error: ServiceError;
  readonly secrets: Iterable<string>;
}

const buildLogEntry = (level: 'error' | 'warning', { context, error, secrets }: LogInput): object =>
  omitUndefined({
    level,
    message: toLoggable(error.message, secrets),
    code: error.code,
    ...context,
    cause: toLoggable(error.cause, secrets),
  });

/** Redacts a cause for a log: keys, receipts and the passed secrets are removed, because a store may repeat them. */
export function toLoggable(cause: unknown, secrets: Iterable<string> = []): unknown {
  const redact = createRedactor(secrets);
  const redactText = (text: string) => redactSecretPatterns(redact(text));
  if (cause instanceof Error)
    return { name: cause.name, message: redactText(cause.message), stack: redactText(cause.stack ?? '') };
  return typeof cause === 'string' ? redactText(cause) : sanitize(cause, { redact });
}
