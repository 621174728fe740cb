import { describeReason } from '../../../lib/api/webhook-texts.ts';
import type { DeliveryRecord } from '../../../lib/webhooks/contract.ts';
import { callApi } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { webhookEndpoints } from '../../api/webhook-endpoints.ts';
import { ConfirmButton } from '../../components/dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { DateTime } from '../../components/values.tsx';
import { Link } from '../../router.tsx';
import { useCanSupport } from '../../session.ts';

const maxDeliveries = 50;

interface UndeliveredNoticeProps {
  readonly user: string;
  /** Version of the attempts of webhooks. */
  readonly revision: string | undefined;
  readonly onReplay: () => void;
}

/** States that the app's server has not received the current state of the customer, with the retry. */
export function UndeliveredNotice({ user, revision, onReplay }: UndeliveredNoticeProps) {
  const canSupport = useCanSupport();
  const query = { applicationUsername: user, limit: maxDeliveries };
  const { data, reload } = useApi(webhookEndpoints.listDeliveries, { query }, { revision });
  return (
    <>
      {selectUndelivered(data?.rows ?? []).map(({ deliveryId, url, failureReason, nextAttemptAt, ...delivery }) => (
        <Notice key={deliveryId} tone="bad" icon="alert">
          The app's server has not received the latest change ({describeReason(delivery)}) at {url}: {failureReason}{' '}
          {nextAttemptAt === undefined ? (
            'There is no other attempt.'
          ) : (
            <>
              The next attempt is <DateTime value={nextAttemptAt} kind="relative" />.
            </>
          )}{' '}
          <Link to="/webhooks/:id" params={{ id: deliveryId }}>
            Show the webhook
          </Link>{' '}
          {canSupport && (
            <ConfirmButton
              label="Retry"
              icon="refresh"
              question="Send this webhook again?"
              consequence={`1 delivery is sent again to ${url}, with the original number of attempts.`}
              done="The delivery is enqueued."
              onConfirm={async () => {
                await callApi(webhookEndpoints.replayDelivery, { params: { id: deliveryId } });
                reload();
                onReplay();
              }}
            />
          )}
        </Notice>
      ))}
    </>
  );
}

/** Selects the latest attempted delivery of each URL if it has failed. Each contains all purchases of the customer. */
function selectUndelivered(rows: readonly DeliveryRecord[]): readonly DeliveryRecord[] {
  const latest = new Map<string, DeliveryRecord>();
  for (const row of rows) if (row.state !== 'redirected' && !latest.has(row.url)) latest.set(row.url, row);
  return [...latest.values()].filter(({ state, failedAttempts }) => state !== 'delivered' && failedAttempts > 0);
}
