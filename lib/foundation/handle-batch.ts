import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import * as v from 'valibot';
import { ServiceError } from './errors.ts';
import { type LogContext, logError } from './log.ts';
import { parseJson } from './parse.ts';
import type { Service } from './service.ts';
import { startBatch } from './start-batch.ts';

interface BatchHandler<S extends v.GenericSchema> {
  /** Id of the worker, for the log. */
  readonly worker: string;
  readonly schema: S;
  /** `batch` is the service record of the whole batch. */
  readonly handle: (batch: Service, message: v.InferOutput<S>) => Promise<void>;
}

/**
 * Handles the messages of a batch concurrently, with shared calls. Reports failed messages individually, so that SQS
 * retries only these; after the last attempt they move to the dead-letter queue.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export async function handleBatch<S extends v.GenericSchema>(
  service: Service,
  { Records }: SQSEvent,
  { worker, schema, handle }: BatchHandler<S>,
): Promise<SQSBatchResponse> {
  const batch = startBatch(service);
  const outcomes = await Promise.all(
    Records.map(async ({ messageId, body }) => {
      try {
        await handle(batch, parseJson(schema, body, 'InternalError'));
        return [];
      } catch (error) {
        logError({ worker, messageId, ...readSubject(body) }, ServiceError.fromUnknown(error));
        return [{ itemIdentifier: messageId }];
      }
    }),
  );
  return { batchItemFailures: outcomes.flat() };
}

const id = v.optional(v.string());
const Subject = v.object({
  appName: id,
  platform: id,
  purchaseId: id,
  refundRequestId: id,
  deliveryId: id,
  eventId: id,
});

/** Reads the ids of a message for the log. A message that does not match its schema can have them too. */
function readSubject(body: string): LogContext {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), Subject), body);
  if (!result.success) return {};
  const { appName, ...ids } = result.output;
  return { app: appName, ...ids };
}
