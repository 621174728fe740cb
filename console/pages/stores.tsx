import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../lib/api/contract.ts';
import type { getApp } from '../../lib/apps/contract.ts';
import type { checkStore, listStores } from '../../lib/stores/contract.ts';
import { callApi, defineEndpoint } from '../api/client.ts';
import { endpoints } from '../api/endpoints.ts';
import { useAction, useApi } from '../api/use-api.ts';
import { emulatorUrl } from '../clock.ts';
import { Button } from '../components/button.tsx';
import { FieldList } from '../components/field-list.tsx';
import { Columns, Page, Row, Section } from '../components/layout.tsx';
import { ErrorNotice, Notice, Skeleton } from '../components/notice.tsx';
import { Badge, CopyId, DateTime } from '../components/values.tsx';
import { formatNumber, formatPercent, formatPlatform } from '../format.ts';
import { Link } from '../router.tsx';
import { useCanChange } from '../session.ts';
import type { PageProps } from './page.ts';

type App = ContractResponse<typeof getApp>;
type AppStore = App['stores'][number];
type StoreActivity = ContractResponse<typeof listStores>['rows'][number];
type Diagnosis = ContractResponse<typeof checkStore>;
type Field = readonly [name: string, value: ComponentChildren];

const checkStoreEndpoint = defineEndpoint<typeof checkStore>('POST', '/v3/stores/:platform/check');

/** Setting of each store that takes the notification URL, by platform token. */
const notificationSettings: Readonly<Record<string, string>> = {
  store_a: 'App Store Connect, App Information, App Store Server Notifications, version 2',
  store_b: 'Google Cloud, an authenticated Pub/Sub push subscription to the topic of the Play Console',
  processor_a: 'Stripe Dashboard, Webhooks',
  service_processor_a: 'Stripe Dashboard of the service account, Webhooks',
  processor_b: 'Braintree Control Panel, Webhooks',
};

/** Neutral tokens by the tokens of the vocabulary `brand`. */
const neutralTokens: Readonly<Record<string, string>> = {
  apple: 'store_a',
  google: 'store_b',
  windows: 'store_c',
  stripe: 'processor_a',
  iaptic: 'service_processor_a',
  braintree: 'processor_b',
};

/** The stores: whether each is connected and responds, the URL for its notifications, and the check of its settings. */
export function StoresPage(_props: PageProps) {
  const app = useApi(endpoints.getApp, {});
  const activities = useApi(endpoints.listStores, {}, { refreshMs: 60_000 });
  const reload = () => {
    app.reload();
    activities.reload();
  };
  return (
    <Page
      title="Stores"
      subtitle={
        <>
          Connect a store with its credentials in the <Link to="/settings">settings</Link>, or on the command line.
          {emulatorUrl !== undefined &&
            app.data &&
            ` This app uses the ${app.data.service.emulatorUrl === undefined ? 'real stores' : 'store emulator'}.`}
        </>
      }
    >
      <ErrorNotice error={app.error ?? activities.error} onRetry={reload} />
      {!app.data && app.error === undefined && <Skeleton lines={10} />}
      {app.data && (
        <Columns>
          {sortConnectedFirst(app.data.stores).map((store) => (
            <StoreSection
              key={store.platform}
              store={store}
              activity={activities.data?.rows.find(({ platform }) => platform === store.platform)}
              onChecked={activities.reload}
            />
          ))}
        </Columns>
      )}
    </Page>
  );
}

const sortConnectedFirst = (stores: App['stores']): App['stores'] =>
  [...stores].sort((a, b) => Number(b.isConnected) - Number(a.isConnected));

interface StoreSectionProps {
  readonly store: AppStore;
  readonly activity: StoreActivity | undefined;
  readonly onChecked: () => void;
}

function StoreSection({ store, activity, onChecked }: StoreSectionProps) {
  const { platform, isConnected } = store;
  const canChange = useCanChange();
  return (
    <Section title={formatPlatform(platform)} actions={<StoreBadge store={store} activity={activity} />}>
      <FieldList
        fields={[
          ['Platform', <code class="mono">{platform}</code>],
          ...(isConnected ? listActivityFields(store, activity) : []),
          ...listSettingsFields(store),
        ]}
      />
      {isConnected && canChange && <StoreCheck platform={platform} onChecked={onChecked} />}
    </Section>
  );
}

function StoreBadge({ store, activity }: Pick<StoreSectionProps, 'store' | 'activity'>) {
  if (!store.isConnected) return <Badge>Not connected</Badge>;
  const { label, tone } = healthBadges[activity?.health ?? 'ok'];
  return <Badge tone={tone}>{label}</Badge>;
}

const healthBadges = {
  unused: { label: 'Not used yet', tone: 'neutral' },
  ok: { label: 'Connected', tone: 'good' },
  degraded: { label: 'Some requests fail', tone: 'warn' },
  failing: { label: 'Failing', tone: 'bad' },
} as const;

/**
 * What the store has sent and responded. Dates are absent while they are loading, and if there was none in the last
 * year.
 */
function listActivityFields({ platform, notificationUrl }: AppStore, activity: StoreActivity | undefined): Field[] {
  const { lastNotificationAt, lastSuccessAt, lastFailure, lastHour, lastDay } = activity ?? {};
  return [
    ...(notificationUrl === undefined
      ? []
      : ([
          ['Last notification', lastNotificationAt && <DateTime value={lastNotificationAt} kind="relative" />],
          [
            'Notifications',
            <>
              <Link to="/events" query={{ kind: 'notification', store: platform }}>
                Received
              </Link>
              ,{' '}
              <Link to="/events" query={{ kind: 'missed', store: platform }}>
                missed
              </Link>
            </>,
          ],
        ] as const)),
    ['Last response', lastSuccessAt && <DateTime value={lastSuccessAt} kind="relative" />],
    [
      'Last failure',
      lastFailure && (
        <>
          <DateTime value={lastFailure.date} kind="relative" />
          <small class="quiet block">{lastFailure.message}</small>
        </>
      ),
    ],
    ['Requests in the last hour', lastHour && describeRequests(lastHour)],
    ['Requests in 24 hours', lastDay && describeRequests(lastDay)],
  ];
}

// Requests after the first one of a minute are added with the next request.
const describeRequests = ({ numRequests, numFailures }: StoreActivity['lastDay']): string =>
  numRequests === 0 ? '0' : `At least ${formatNumber(numRequests)}, ${formatPercent(numFailures / numRequests)} failed`;

function listSettingsFields({ platform, isConnected, notificationUrl }: AppStore): Field[] {
  const token = neutralTokens[platform] ?? platform;
  const name = formatPlatform(platform);
  return [
    [
      'Notification URL',
      notificationUrl === undefined ? (
        'None: the service polls this store.'
      ) : (
        <CopyId value={notificationUrl} label={`notification URL of ${name}`}>
          {notificationUrl}
        </CopyId>
      ),
    ],
    ...(notificationUrl === undefined ? [] : ([['Enter it in', notificationSettings[token]]] as const)),
    [
      isConnected ? 'Change the settings' : 'Connect',
      <Link to="/settings" query={{ store: platform }}>
        Settings
      </Link>,
    ],
  ];
}

/** The service names the command. Here, the settings have a page. */
const toAdvice = (cure: string): string =>
  cure.replace('run `app set-store`', 'save it in the settings').replace(' with `app set-store`', '');

/** Queries the store with its settings, and shows what is wrong and how to correct it. */
function StoreCheck({ platform, onChecked }: { readonly platform: string; readonly onChecked: () => void }) {
  const [diagnosis, setDiagnosis] = useState<Diagnosis | undefined>();
  const { run, isRunning, error } = useAction(async () => {
    setDiagnosis(undefined);
    setDiagnosis(await callApi(checkStoreEndpoint, { params: { platform } }));
    onChecked();
  });
  return (
    <>
      <Row>
        <Button
          icon="refresh"
          onClick={run}
          isBusy={isRunning}
          label={`Check the settings of ${formatPlatform(platform)}`}
        >
          Check the settings
        </Button>
      </Row>
      <ErrorNotice error={error} />
      {diagnosis?.summary !== undefined && (
        <Notice tone="good" icon="check">
          {diagnosis.summary}
        </Notice>
      )}
      {diagnosis?.findings.map(({ code, severity, problem, cure }) => (
        <Notice key={code} tone={severity === 'note' ? 'info' : 'warn'} icon="alert">
          {problem} {toAdvice(cure)}
        </Notice>
      ))}
    </>
  );
}
