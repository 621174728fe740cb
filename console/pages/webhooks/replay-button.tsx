import { useState } from 'preact/hooks';
import { callApi } from '../../api/client.ts';
import { useAction, useLoad } from '../../api/use-api.ts';
import { webhookEndpoints } from '../../api/webhook-endpoints.ts';
import { getNow } from '../../clock.ts';
import { announce } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { formatNumber } from '../../format.ts';
import { getSession } from '../../session.ts';
import type { DeliveryFilters } from './delivery-filters.ts';

const dayMs = 86_400_000;
/** Deliveries are kept for 30 days. */
const retentionMs = 30 * dayMs;

interface ReplayRange {
  readonly state: 'dead' | 'delivered';
  readonly startdate: string;
  readonly enddate: string;
}

interface ReplayButtonProps {
  readonly filters: DeliveryFilters;
  readonly onDone: () => void;
}

/** Sends the dead deliveries of the selected days again, or the delivered ones if the filter selects them. */
export function ReplayButton({ filters, onDone }: ReplayButtonProps) {
  const [range, setRange] = useState<ReplayRange | undefined>();
  const state = filters.state === 'delivered' ? 'delivered' : 'dead';
  return (
    <>
      <Button icon="refresh" onClick={() => setRange(toRange(state, filters))}>
        {`Replay ${state} deliveries…`}
      </Button>
      {range && (
        <ReplayDialog
          range={range}
          onClose={() => setRange(undefined)}
          onDone={() => {
            setRange(undefined);
            onDone();
          }}
        />
      )}
    </>
  );
}

/** The range is fixed when the dialog opens, so that the number of deliveries in it does not grow. */
function toRange(state: ReplayRange['state'], { startdate, enddate }: DeliveryFilters): ReplayRange {
  const now = getNow();
  const end = enddate === '' ? now : Math.min(now, Date.parse(enddate) + dayMs);
  return {
    state,
    startdate: startdate === '' ? new Date(now - retentionMs).toISOString() : startdate,
    enddate: new Date(end).toISOString(),
  };
}

interface ReplayDialogProps {
  readonly range: ReplayRange;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function ReplayDialog({ range, onClose, onDone }: ReplayDialogProps) {
  const {
    data: count,
    error,
    reload,
  } = useLoad(async (signal) => await countDeliveries(range, signal), JSON.stringify(range));
  const replay = useAction(async () => {
    announce(`${formatNumber(await replayRange(range))} deliveries are enqueued.`);
    onDone();
  });
  return (
    <Dialog title={`Replay ${range.state} deliveries?`} isBusy={replay.isRunning} onClose={onClose}>
      <div class="dialog-body">
        {count === undefined ? error === undefined && <Skeleton lines={2} /> : <p>{describeReplay(count, range)}</p>}
      </div>
      <ErrorNotice error={error} onRetry={reload} />
      <ErrorNotice error={replay.error} />
      <div class="dialog-actions">
        <Button onClick={onClose} isDisabled={replay.isRunning}>
          Cancel
        </Button>
        <Button onClick={replay.run} kind="primary" isDisabled={!count?.total} isBusy={replay.isRunning}>
          {replay.isRunning ? 'Replaying…' : 'Replay'}
        </Button>
      </div>
    </Dialog>
  );
}

interface DeliveryCount {
  readonly total: number;
  /** Whether there are further ones, which are not counted. */
  readonly isMinimum: boolean;
}

function describeReplay({ total, isMinimum }: DeliveryCount, { state }: ReplayRange): string {
  if (total === 0) return `The selected days have no ${state} deliveries.`;
  const number = isMinimum ? `More than ${formatNumber(total)}` : formatNumber(total);
  const deliveries = total === 1 && !isMinimum ? 'delivery is' : 'deliveries are';
  return `${number} ${state} ${deliveries} sent again, with the original number of attempts. A replay cannot be stopped.`;
}

const maxCounted = 5_000;

/** Counts the deliveries of a range, at most about 5,000. */
async function countDeliveries(range: ReplayRange, signal: AbortSignal): Promise<DeliveryCount> {
  let total = 0;
  let cursor: string | undefined;
  do {
    const page = await callApi(
      webhookEndpoints.listDeliveries,
      { query: { ...range, limit: 200, cursor } },
      { signal },
    );
    total += page.rows.length;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && total < maxCounted);
  return { total, isMinimum: cursor !== undefined };
}

/**
 * Replays all deliveries of a range. A request replays at most 1,000. Stops if the session ends: the next one is
 * another app.
 */
async function replayRange(range: ReplayRange): Promise<number> {
  const credentials = getSession();
  let replayed = 0;
  for (let isComplete = false; !isComplete && credentials === getSession(); ) {
    const result = await callApi(webhookEndpoints.replayDeliveries, { body: range as never });
    replayed += result.replayed;
    isComplete = result.isComplete;
  }
  return replayed;
}
