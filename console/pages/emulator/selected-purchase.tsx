import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { getPurchase } from '../../../lib/purchases/contract.ts';
import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import type { DeliveryRecord } from '../../../lib/webhooks/contract.ts';
import { isApiError } from '../../api/api-error.ts';
import { defineEndpoint } from '../../api/client.ts';
import { act, type EmulatorPurchase, getReceipt, listStoreNotifications } from '../../api/emulator.ts';
import { useAction, useApi, useLoad } from '../../api/use-api.ts';
import { webhookEndpoints } from '../../api/webhook-endpoints.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogButton } from '../../components/dialog.tsx';
import { FieldList } from '../../components/field-list.tsx';
import { Form, TextField } from '../../components/fields.tsx';
import { Columns, Row, Section } from '../../components/layout.tsx';
import { ErrorNotice, Notice, Skeleton } from '../../components/notice.tsx';
import { Timeline, type TimelineEntry } from '../../components/timeline.tsx';
import { Badge, DateTime, Money } from '../../components/values.tsx';
import { formatPlatform } from '../../format.ts';
import { changeQuery, Link } from '../../router.tsx';
import { useCanChange } from '../../session.ts';
import { describeDeliveryState } from '../webhooks/delivery-state.ts';
import { listActions, type PurchaseAction } from './actions.ts';
import { submitReceipt } from './buy-form.tsx';
import { toTimelineEntry } from './store-notifications.ts';

interface SelectedPurchaseProps {
  readonly purchase: EmulatorPurchase;
  /** Actions of the store. */
  readonly actions: readonly string[];
  readonly refreshMs: number | undefined;
  readonly onChange: () => void;
}

/** A purchase as the service reports it, the actions of its store, and the notifications and webhooks of each step. */
export function SelectedPurchase({ purchase, actions, refreshMs, onChange }: SelectedPurchaseProps) {
  const { id, platform, productId, applicationUsername, state } = purchase;
  const purchaseId = `${platform}:${purchase.purchaseId ?? id}`;
  const canChange = useCanChange();
  return (
    <Section
      title={`${productId}${applicationUsername === undefined ? '' : ` of ${applicationUsername}`}`}
      description={
        <>
          {formatPlatform(platform)}: <Badge>{state}</Badge>{' '}
          <Link to="/purchases/:purchaseId" params={{ purchaseId }}>
            Open the purchase page
          </Link>
        </>
      }
    >
      <ServiceState key={purchaseId} purchase={purchase} purchaseId={purchaseId} refreshMs={refreshMs} />
      {canChange && <Actions key={id} purchase={purchase} names={actions} onChange={onChange} />}
      <Steps key={purchaseId} purchase={purchase} purchaseId={purchaseId} refreshMs={refreshMs} />
    </Section>
  );
}

interface WatchedPurchaseProps {
  readonly purchase: EmulatorPurchase;
  /** Id in the service. */
  readonly purchaseId: string;
  readonly refreshMs: number | undefined;
}

/** The state of the purchase in words, or a button if the service has not received its receipt. */
function ServiceState({ purchase, purchaseId, refreshMs }: WatchedPurchaseProps) {
  const canChange = useCanChange();
  const request = { params: { purchaseId }, query: { include_notifications: 'true' } };
  const { data, error, reload } = useApi(purchaseEndpoint, request, refreshMs === undefined ? {} : { refreshMs });
  const submission = useAction(async () => {
    await submitReceipt(await getReceipt(purchase.id));
    reload();
  });
  const isMissing = isApiError(error) && error.status === 404;
  if (data && error === undefined) return <FieldList fields={listFacts(data)} />;
  if (!isMissing) return error === undefined ? <Skeleton lines={1} /> : <ErrorNotice error={error} onRetry={reload} />;
  return (
    <Notice tone="warn">
      The service does not have the purchase: its receipt was not submitted.{' '}
      {canChange && (
        <Button onClick={submission.run} isBusy={submission.isRunning}>
          Submit the receipt
        </Button>
      )}
      <ErrorNotice error={submission.error} />
    </Notice>
  );
}

const purchaseEndpoint = defineEndpoint<typeof getPurchase>('GET', '/v3/purchases/:purchaseId');

/** Lists what the service reports of the purchase. */
function listFacts(purchase: PurchaseDetails): [string, ComponentChildren][] {
  const { expirationDate, renewalIntent, notifications = [], amountMicros, currency, amountUSD } = purchase;
  const latest = notifications.at(-1);
  const { label, tone } = describeAccess(purchase);
  return [
    ['Access', <Badge tone={tone}>{label}</Badge>],
    ...(expirationDate === undefined
      ? []
      : ([['Period ends', <DateTime value={expirationDate} kind="both" />]] satisfies [string, ComponentChildren][])),
    ['Renewal', renewalIntent],
    ['Price', <Money amountMicros={amountMicros} currency={currency} amountUsd={amountUSD} />],
    [
      'Latest change',
      latest && (
        <>
          {latest.reason} <DateTime value={latest.date} kind="relative" />
        </>
      ),
    ],
  ];
}

function describeAccess({ isPending, isPaused, isExpired, isBillingRetryPeriod, isTrialPeriod }: PurchaseDetails) {
  if (isPending) return { label: 'None: the payment is pending', tone: 'warn' } as const;
  if (isPaused) return { label: 'None: paused', tone: 'warn' } as const;
  if (isExpired) return { label: 'Ended', tone: 'bad' } as const;
  if (isBillingRetryPeriod) return { label: 'Yes: in grace, the payment failed', tone: 'warn' } as const;
  return { label: isTrialPeriod ? 'Yes: free trial' : 'Yes', tone: 'good' } as const;
}

interface ActionsProps {
  readonly purchase: EmulatorPurchase;
  readonly names: readonly string[];
  readonly onChange: () => void;
}

function Actions({ purchase, names, onChange }: ActionsProps) {
  const { run, isRunning, error } = useAction(async ({ name, label }: PurchaseAction, details: object = {}) => {
    const { id } = await act(purchase.id, name, details);
    if (id !== purchase.id) changeQuery({ purchase: id });
    announceResult(`${label}: done.`);
    onChange();
  });
  const actions = listActions(names, purchase.type);
  const renderAction = (action: PurchaseAction) => {
    const { name, label, input } = action;
    return input ? (
      <DialogButton
        key={name}
        isDisabled={isRunning}
        render={(onClose) => (
          <ActionDialog
            action={action}
            input={input}
            onClose={onClose}
            onSubmit={(details) => {
              onClose();
              run(action, details);
            }}
          />
        )}
      >
        {label}
      </DialogButton>
    ) : (
      <Button key={name} isDisabled={isRunning} onClick={() => run(action)}>
        {label}
      </Button>
    );
  };
  const further = actions.filter(({ isCommon }) => !isCommon);
  return (
    <>
      <Row>{actions.filter(({ isCommon }) => isCommon).map(renderAction)}</Row>
      {further.length > 0 && (
        <details class="disclosure">
          <summary>Further actions</summary>
          <Row>{further.map(renderAction)}</Row>
        </details>
      )}
      <ErrorNotice error={error} />
      {purchase.platform === 'store_c' && (
        <p class="quiet">
          The Microsoft Store does not send notifications: the service detects changes by refreshes, so move the clock.
        </p>
      )}
    </>
  );
}

interface ActionDialogProps {
  readonly action: PurchaseAction;
  readonly input: NonNullable<PurchaseAction['input']>;
  readonly onClose: () => void;
  readonly onSubmit: (details: object) => void;
}

function ActionDialog({ action, input, onClose, onSubmit }: ActionDialogProps) {
  const [value, setValue] = useState('');
  return (
    <Dialog title={action.label} onClose={onClose}>
      <Form label={action.label} onSubmit={() => onSubmit({ [input.member]: value })}>
        <TextField label={input.label} value={value} onInput={setValue} isRequired />
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            {action.label}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const shownSteps = 12;

/** Notifications of the store and webhooks of the service, newest first. */
function Steps({ purchase, purchaseId, refreshMs }: WatchedPurchaseProps) {
  const { applicationUsername } = purchase;
  const refresh = refreshMs === undefined ? {} : { refreshMs };
  const notifications = useLoad(
    async (signal) => await listStoreNotifications(purchase, signal),
    purchase.purchaseId ?? purchase.id,
    refresh,
  );
  const query = { limit: 50, ...(applicationUsername !== undefined && { applicationUsername }) };
  const deliveries = useApi(webhookEndpoints.listDeliveries, { query }, refresh);
  const webhooks = deliveries.data?.rows.filter(({ notification }) => notification.purchaseId === purchaseId);
  return (
    <Columns>
      <StepList
        title="Notifications of the store"
        steps={notifications.data?.map(toTimelineEntry).reverse()}
        error={notifications.error}
        empty="The store has not sent a notification."
      />
      <StepList
        title="Webhooks to the app"
        steps={webhooks?.map(toWebhookEntry)}
        error={deliveries.error}
        empty="The service has not sent a webhook."
      />
    </Columns>
  );
}

interface StepListProps {
  readonly title: string;
  readonly steps: readonly TimelineEntry[] | undefined;
  readonly error: unknown;
  readonly empty: string;
}

const StepList = ({ title, steps, error, empty }: StepListProps) => (
  <div>
    <h3>{title}</h3>
    <ErrorNotice error={error} />
    {!steps && error === undefined && <Skeleton />}
    {steps?.length === 0 && <p class="quiet">{empty}</p>}
    {steps && steps.length > 0 && <Timeline label={title} entries={steps.slice(0, shownSteps)} />}
  </div>
);

function toWebhookEntry({ deliveryId, state, notification, createdAt, lastHttpStatus }: DeliveryRecord): TimelineEntry {
  const { label, tone } = describeDeliveryState(state);
  return {
    id: deliveryId,
    date: createdAt,
    title: (
      <Link to="/webhooks/:id" params={{ id: deliveryId }}>
        {notification.reason}
      </Link>
    ),
    detail: lastHttpStatus === undefined ? label : `${label}: HTTP ${lastHttpStatus}`,
    tone,
  };
}
