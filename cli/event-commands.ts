import { Command } from 'commander';
import { getStoredApp } from '../lib/apps/manage-apps.ts';
import { type EventRecord, toListedEvent } from '../lib/events/event.ts';
import { createEventTail } from '../lib/events/tail-events.ts';
import { toEventInfo } from '../lib/events/to-event-info.ts';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import type { EpochMillis } from '../lib/foundation/time.ts';
import { printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { printRepeatedly } from './follow.ts';
import { formatCount, formatTime } from './format.ts';
import { getService } from './get-service.ts';
import { parseRowLimit, parseTime } from './option-parsers.ts';
import type { Output } from './output.ts';

export function createEventCommands(): Command {
  const events = new Command('events').description('Read the events of an app');
  events
    .command('tail')
    .description('Print the newest events, oldest first, with the name of the key of each request')
    .argument('<app>')
    .option('-f, --follow', 'print further events until Ctrl-C')
    .option('--type <type>', 'type such as receipt.validated, or the beginning of types such as webhook.*')
    .option('--since <date>', 'all events since a time, such as 2026-01-31T10:00:00Z', parseTime)
    .option('--limit <number>', 'number of events of the type without --since', parseRowLimit, 20)
    .addHelpText(
      'after',
      formatExamples(
        'events tail my-app --follow',
        "events tail my-app --follow --type 'webhook.*'",
        '--json events tail my-app --since 2026-01-31T10:00:00Z',
      ),
    )
    .action(printResult(tailAction));
  return events;
}

interface TailOptions {
  readonly follow?: boolean;
  readonly type?: string;
  readonly since?: EpochMillis;
  readonly limit: number;
}

async function tailAction(name: string, options: TailOptions, output: Output): Promise<undefined> {
  const { follow = false, type, since, limit } = options;
  const { name: appName } = await getStoredApp(getService(), name);
  const tail = createEventTail(getService(), appName, {
    limit,
    follow,
    onSearchLimit: createSearchNote(output),
    ...(since !== undefined && { startdate: since }),
    ...(type !== undefined && { matches: (event: EventRecord) => matchesType(event, type) }),
  });
  const print = async () => {
    for (const event of await tail.poll()) output.line(toEventData(event), formatEvent(event));
  };
  await printRepeatedly(print, { follow, output });
  return undefined;
}

/** A type that ends with `*` matches the types that begin like it. */
const matchesType = (event: EventRecord, type: string): boolean =>
  type.endsWith('*') ? event.type.startsWith(type.slice(0, -1)) : event.type === type;

/** Prints that earlier events were not searched. */
export const createSearchNote =
  (output: Output) =>
  (searched: number): void =>
    output.note(`The newest ${formatCount(searched, 'event')} were searched. Earlier ones may match.`);

function toEventData(event: EventRecord): object {
  const { eventInfo } = toEventInfo(toListedEvent(event));
  const { eventId, key, applicationUsername, route } = event;
  return omitUndefined({ eventId, ...eventInfo, applicationUsername, key, route });
}

const formatEvent = ({ date, type, outcome, key, applicationUsername, eventId }: EventRecord): string =>
  [
    formatTime(date),
    String(outcome.status),
    type.padEnd(24),
    (key?.name ?? '-').padEnd(12),
    (applicationUsername ?? '-').padEnd(16),
    eventId,
    ...(outcome.ok ? [] : [outcome.message ?? '']),
  ].join('  ');
