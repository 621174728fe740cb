import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type * as v from 'valibot';
import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import { parseJson } from '../shared/parse.ts';

interface BatchHandler<S extends v.GenericSchema> {
  readonly schema: S;
  readonly handle: (message: v.InferOutput<S>) => Promise<void>;
}

/**
 * Handles the messages of a batch at the same time. Those that fail are given back to the queue one by one; the others are
 * done. A message that never succeeds ends in the dead-letter queue.
 */
export async function handleBatch<S extends v.GenericSchema>(
  { Records }: SQSEvent,
  { schema, handle }: BatchHandler<S>,
): Promise<SQSBatchResponse> {
  const outcomes = await Promise.all(
    Records.map(async ({ messageId, body }) => {
      try {
        await handle(parseJson(schema, body, 'InternalError'));
        return [];
      } catch (error) {
        logError({ messageId }, ServiceError.fromUnknown(error));
        return [{ itemIdentifier: messageId }];
      }
    }),
  );
  return { batchItemFailures: outcomes.flat() };
}
