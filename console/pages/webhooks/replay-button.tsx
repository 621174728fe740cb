import { useState } from 'preact/hooks';
import { callApi } from '../../api/client.ts';
import { useAction, useLoad } from '../../api/use-api.ts';
import { webhookEndpoints } from '../../api/webhook-endpoints.ts';
import { getNow } from '../../clock.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogButton } from '../../components/dialog.tsx';
import { ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { formatNumber } from '../../format.ts';
import { getSession } from '../../session.ts';
import type { DeliveryFilters } from './delivery-filters.ts';

const dayMs = 86_400_000;
/** Deliveries are kept for 30 days. */
const retentionMs = 30 * dayMs;

type ReplayedState = 'pending' | 'dead' | 'delivered';

interface ReplayRange {
  readonly states: readonly ReplayedState[];
  /** One of the URLs, or all. */
  readonly url?: string;
  readonly startdate: string;
  readonly enddate: string;
}

interface ReplayButtonProps {
  readonly filters: DeliveryFilters;
  readonly onDone: () => void;
}

/** Sends the deliveries of the selected days again that wait for a retry or are dead, or those in one state. */
export function ReplayButton({ filters, onDone }: ReplayButtonProps) {
  const states = statesByFilter[filters.state] ?? failedStates;
  return (
    <DialogButton
      icon="refresh"
      render={(onClose) => <ReplayDialog filters={filters} states={states} onDone={onDone} onClose={onClose} />}
    >
      {`Retry ${describeStates(states)}…`}
    </DialogButton>
  );
}

const failedStates: readonly ReplayedState[] = ['pending', 'dead'];

const statesByFilter: Readonly<Record<string, readonly ReplayedState[]>> = {
  pending: ['pending'],
  dead: ['dead'],
  delivered: ['delivered'],
};

const describeStates = (states: readonly ReplayedState[]): string =>
  states.length > 1 ? 'all failed' : `all ${states.join()}`;

/** The range is fixed when the dialog opens, so that the number of deliveries in it does not grow. */
function toRange(states: ReplayRange['states'], { startdate, enddate, url }: DeliveryFilters): ReplayRange {
  const now = getNow();
  const end = enddate === '' ? now : Math.min(now, Date.parse(enddate) + dayMs);
  return {
    states,
    startdate: startdate === '' ? new Date(now - retentionMs).toISOString() : startdate,
    enddate: new Date(end).toISOString(),
    ...(url !== '' && { url }),
  };
}

interface ReplayDialogProps extends ReplayButtonProps {
  readonly states: ReplayRange['states'];
  readonly onClose: () => void;
}

function ReplayDialog({ filters, states, onClose, onDone }: ReplayDialogProps) {
  const [range] = useState(() => toRange(states, filters));
  const {
    data: count,
    error,
    reload,
  } = useLoad(async (signal) => await countDeliveries(range, signal), JSON.stringify(range));
  const [progress, setProgress] = useState(0);
  const replay = useAction(async () => {
    announceResult(`${formatNumber(await replayRange(range, setProgress))} deliveries are enqueued.`);
    onClose();
    onDone();
  });
  return (
    <Dialog title={`Retry ${describeStates(range.states)} deliveries?`} isBusy={replay.isRunning} onClose={onClose}>
      <div class="dialog-body">
        {count === undefined ? error === undefined && <Skeleton lines={2} /> : <p>{describeReplay(count, range)}</p>}
      </div>
      {replay.isRunning && count && (
        <p role="status">
          <progress value={progress} max={Math.max(count.total, progress)} aria-label="Enqueued deliveries" />{' '}
          {formatNumber(progress)} of {count.isMinimum ? 'more than ' : ''}
          {formatNumber(count.total)} enqueued
        </p>
      )}
      <ErrorNotice error={error} onRetry={reload} />
      <ErrorNotice error={replay.error} />
      <div class="dialog-actions">
        <Button onClick={onClose} isDisabled={replay.isRunning}>
          Cancel
        </Button>
        <Button onClick={replay.run} kind="primary" isDisabled={!count?.total} isBusy={replay.isRunning}>
          {replay.isRunning ? 'Retrying…' : 'Retry'}
        </Button>
      </div>
    </Dialog>
  );
}

interface DeliveryCount {
  readonly total: number;
  /** There are others, which are not counted. */
  readonly isMinimum: boolean;
}

function describeReplay({ total, isMinimum }: DeliveryCount, { states, url }: ReplayRange): string {
  const names = states.join(' or ');
  const target = url === undefined ? '' : ` to ${url}`;
  if (total === 0) return `The selected days have no ${names} deliveries${target}.`;
  const number = isMinimum ? `More than ${formatNumber(total)}` : formatNumber(total);
  const deliveries = total === 1 && !isMinimum ? 'delivery is' : 'deliveries are';
  return `${number} ${names} ${deliveries} sent again${target}, with the original number of attempts. A retry cannot be stopped.`;
}

const maxCounted = 5_000;

/** Counts the deliveries of a range, at most about 5,000 of each state. */
async function countDeliveries({ states, ...range }: ReplayRange, signal: AbortSignal): Promise<DeliveryCount> {
  const pages = await Promise.all(
    states.map(async (state) => {
      let total = 0;
      let cursor: string | undefined;
      do {
        const query = { ...range, state, limit: 200, cursor };
        const page = await callApi(webhookEndpoints.listDeliveries, { query }, { signal });
        total += page.rows.length;
        cursor = page.nextCursor;
      } while (cursor !== undefined && total < maxCounted);
      return { total, isMinimum: cursor !== undefined };
    }),
  );
  return {
    total: pages.reduce((sum, { total }) => sum + total, 0),
    isMinimum: pages.some(({ isMinimum }) => isMinimum),
  };
}

/**
 * Replays all deliveries of a range. A request replays at most 1,000. Stops if the session ends: the next one is
 * another app.
 */
async function replayRange(
  { states, ...range }: ReplayRange,
  reportProgress: (replayed: number) => void,
): Promise<number> {
  const credentials = getSession();
  let replayed = 0;
  for (const state of states)
    for (let isComplete = false; !isComplete && credentials === getSession(); ) {
      const result = await callApi(webhookEndpoints.replayDeliveries, { body: { ...range, state } });
      replayed += result.replayed;
      isComplete = result.isComplete;
      reportProgress(replayed);
    }
  return replayed;
}
