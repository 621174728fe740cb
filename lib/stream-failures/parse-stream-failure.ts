import * as v from 'valibot';
import { parseJson } from '../foundation/parse.ts';
import { type StreamFailure, streamWorkers } from '../foundation/stream-failure.ts';

const StreamFailureMessage = v.object({
  worker: v.picklist(streamWorkers),
  appName: v.string(),
  key: v.object({ pk: v.string(), sk: v.string() }),
  reason: v.string(),
  writtenAt: v.number(),
});

/**
 * Message of Lambda about a batch that failed for twelve hours. It has the positions of the records, and no keys.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
 */
const DiscardedBatch = v.object({
  requestContext: v.object({ functionArn: v.string() }),
  DDBStreamBatchInfo: v.object({
    batchSize: v.number(),
    approximateArrivalOfFirstRecord: v.string(),
    approximateArrivalOfLastRecord: v.string(),
  }),
});

/** Stream records that Lambda discarded. Only commands for a range of time repair their effects. */
export interface DiscardedRecords {
  readonly functionArn: string;
  readonly count: number;
  /** ISO dates of the writes. */
  readonly from: string;
  readonly to: string;
}

/** Parses a message of the queue `StreamFailures`. Undefined if it is not a message of a worker or of Lambda. */
export function parseStreamFailure(body: string): StreamFailure | DiscardedRecords | undefined {
  const content = parseJson(v.unknown(), body);
  const failure = v.safeParse(StreamFailureMessage, content);
  if (failure.success) return failure.output;
  const batch = v.safeParse(DiscardedBatch, content);
  if (!batch.success) return undefined;
  const { requestContext, DDBStreamBatchInfo: info } = batch.output;
  return {
    functionArn: requestContext.functionArn,
    count: info.batchSize,
    from: info.approximateArrivalOfFirstRecord,
    to: info.approximateArrivalOfLastRecord,
  };
}
