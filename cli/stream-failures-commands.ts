import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { once } from '../lib/foundation/cache.ts';
import { clientOptions } from '../lib/foundation/container.ts';
import { requireVariable } from '../lib/foundation/get-service.ts';
import { createMessageInbox } from '../lib/foundation/message-inbox.ts';
import type { ReceivedMessage } from '../lib/foundation/message-queue.ts';
import type { StreamFailure } from '../lib/foundation/stream-failure.ts';
import { type DiscardedRecords, parseStreamFailure } from '../lib/stream-failures/parse-stream-failure.ts';
import { replayStreamFailures } from '../lib/stream-failures/replay-stream-failures.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount, formatTime } from './format.ts';
import { getService } from './get-service.ts';
import type { Output } from './output.ts';
import { type Column, formatTable } from './table.ts';

export function createStreamFailuresCommands(): Command {
  const failures = new Command('stream-failures').description(
    'List and replay changes that were not announced or counted because a worker could not process them',
  );
  failures
    .command('list')
    .description('List the skipped stream records with their reasons')
    .addHelpText('after', formatExamples('webhooks stream-failures list'))
    .action(printResult(listAction));
  failures
    .command('replay')
    .description(
      'Settle credits, create missing webhook deliveries, correct the counters and rebuild the customer summaries',
    )
    .addHelpText('after', formatExamples('webhooks stream-failures replay'))
    .action(printResult(replayAction));
  return failures;
}

interface QueuedFailure {
  readonly message: ReceivedMessage;
  readonly content: StreamFailure | DiscardedRecords | undefined;
}

const inbox = once(() => createMessageInbox(() => requireVariable('STREAM_FAILURES_QUEUE_URL'), clientOptions()));

const receiveFailures = async (): Promise<QueuedFailure[]> =>
  (await inbox().receiveAll()).map((message) => ({
    message,
    content: parseStreamFailure(message.body),
  }));

async function listAction({ width }: Output): Promise<CommandResult> {
  const received = await receiveFailures();
  await inbox().release(received.map(({ message }) => message));
  const rows = received.map(({ content }) => toRow(content));
  return { data: rows, text: formatTable(columns, rows, width) || 'No stream failures.' };
}

async function replayAction({ width }: Output): Promise<CommandResult> {
  const received = await receiveFailures();
  const replayable = received.flatMap(({ message, content }) =>
    content && 'worker' in content ? [{ ...content, message }] : [],
  );
  const wait = async (ms: number) => await sleep(ms);
  const outcomes = await replayStreamFailures(getService(), replayable, wait);
  const replayed = outcomes.filter(({ problem }) => problem === undefined).map(({ failure }) => failure.message);
  const remaining = received.filter(({ message }) => !replayed.includes(message));
  await inbox().delete(replayed);
  await inbox().release(remaining.map(({ message }) => message));
  const problems = new Map(outcomes.map(({ failure, problem }) => [failure.message, problem]));
  const rows = remaining.map(({ message, content }) => {
    const row = toRow(content);
    return { ...row, reason: problems.get(message) ?? row.reason };
  });
  const summary = `${formatCount(replayed.length, 'stream record')} replayed.`;
  return {
    data: { replayed: replayed.length, remaining: rows },
    text: [summary, formatTable(columns, rows, width)].filter(Boolean).join('\n'),
    ...(rows.length > 0 && { exitCode: exitCodes.found }),
  };
}

interface FailureRow {
  readonly date?: string;
  readonly worker?: string;
  readonly app?: string;
  readonly item?: string;
  readonly reason: string;
}

const columns: readonly Column<FailureRow>[] = [
  { title: 'DATE', value: ({ date }) => date },
  { title: 'WORKER', value: ({ worker }) => worker },
  { title: 'APP', value: ({ app }) => app },
  { title: 'ITEM', value: ({ item }) => item },
  { title: 'REASON', value: ({ reason }) => reason },
];

function toRow(content: QueuedFailure['content']): FailureRow {
  if (!content) return { reason: 'The message is not readable. Delete it from the queue.' };
  if ('worker' in content) {
    const { worker, appName, key, reason, writtenAt } = content;
    return { date: formatTime(writtenAt), worker, app: appName, item: `${key.pk} ${key.sk}`, reason };
  }
  const { functionArn, count, from, to } = content;
  const worker = functionArn.split(':')[6] ?? functionArn;
  const reason = `${formatCount(count, 'record')} failed for 12 hours, written until ${to}. Run webhooks backfill, which creates no webhooks of grants, refund requests and credits, or stats recount --correct and customer rebuild-summaries, then delete the message.`;
  return { date: from, worker, reason };
}
