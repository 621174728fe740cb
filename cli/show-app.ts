import { defaultRequestsPerSecond } from '../lib/api/limits.ts';
import { type App, defaultUnverifiedHours } from '../lib/apps/app.ts';
import { findCatalogue } from '../lib/apps/catalogue-table.ts';
import { getStoredApp, listKeys } from '../lib/apps/manage-apps.ts';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import { type Service, selectEmulator } from '../lib/foundation/service.ts';
import { listStoreConnections } from '../lib/store-notifications/list-store-connections.ts';
import { toDisplayUrl } from '../lib/webhooks/display-url.ts';
import type { CommandResult } from './command-result.ts';
import { readDeployment } from './doctor/deployment.ts';
import { formatCount, formatTime } from './format.ts';
import { formatKeys, toKeyData } from './format-keys.ts';
import { formatTable } from './table.ts';

/** Shows the settings of an app, which can be deleted, without secrets. */
export async function showApp(service: Service, name: string, width: number | undefined): Promise<CommandResult> {
  const stored = await getStoredApp(service, name);
  const app = { requestsPerSecond: service.requestsPerKey ?? defaultRequestsPerSecond, ...stored };
  const [stores, catalogue] = await Promise.all([
    listStoreConnections(service, name, readDeployment(process.env)?.apiUrl ?? '<ApiUrl>'),
    findCatalogue(service, name),
  ]);
  const keys = listKeys(app);
  const usesEmulator = service.emulator.url ? selectEmulator(service.emulator, name).url !== undefined : undefined;
  const products = Object.keys(catalogue ?? {}).length;
  const data = {
    app: name,
    ...omitUndefined({ createdAt: formatTime(app.createdAt), deletedAt: app.deletedAt && formatTime(app.deletedAt) }),
    strategy: app.strategy,
    vocabulary: app.vocabulary,
    readEvents: formatReadEvents(app),
    unverifiedHours: getUnverifiedHours(app),
    requestsPerSecond: app.requestsPerSecond,
    supportActions: app.supportActions ?? [],
    refundPolicy: app.refundPolicy ?? 'silent',
    webhooks: buildWebhookData(app),
    alertUrl: app.alertUrl ? toDisplayUrl(app.alertUrl) : null,
    catalogue: { products },
    ...omitUndefined({ usesEmulator }),
    stores,
    keys: keys.map(toKeyData),
  };
  const storeTable = formatTable(
    [
      { title: 'STORE', value: ({ platform }) => platform, isWhole: true },
      { title: 'SETTINGS', value: ({ isConnected }) => (isConnected ? 'saved' : 'none') },
      { title: 'NOTIFICATION URL', value: ({ notificationUrl }) => notificationUrl ?? 'not needed', isWhole: true },
    ],
    stores,
    width,
  );
  const text = [formatFields(app, { products, usesEmulator }), storeTable, formatKeys(keys, width)].join('\n\n');
  return { data, text };
}

const getUnverifiedHours = ({ unverifiedHours = defaultUnverifiedHours }: App): number => unverifiedHours;

const formatReadEvents = ({ recordsReads = true }: App): 'on' | 'off' => (recordsReads ? 'on' : 'off');

/** The URLs without query and with long path segments shortened, because they can contain credentials. */
const buildWebhookData = ({ webhookSettings }: App) => ({
  urls: (webhookSettings?.urls ?? []).map(toDisplayUrl),
  sandboxUrls: (webhookSettings?.sandboxUrls ?? []).map(toDisplayUrl),
  includesPassword: webhookSettings?.includesPassword ?? false,
  events: webhookSettings?.events ?? [],
});

function formatFields(
  app: App & { readonly requestsPerSecond: number },
  { products, usesEmulator }: { readonly products: number; readonly usesEmulator: boolean | undefined },
): string {
  const { urls, sandboxUrls, includesPassword } = buildWebhookData(app);
  const password = includesPassword ? ', with the secret key as password' : '';
  return [
    `app          ${app.name}`,
    `created      ${formatTime(app.createdAt)}`,
    ...(app.deletedAt === undefined ? [] : [`deleted      ${formatTime(app.deletedAt)}`]),
    `strategy     ${app.strategy}`,
    `vocabulary   ${app.vocabulary}`,
    `read events  ${formatReadEvents(app)}`,
    `unverified   ${formatCount(getUnverifiedHours(app), 'hour')} of access`,
    `limit        ${formatCount(app.requestsPerSecond, 'request')} per second of each key`,
    `support      ${app.supportActions?.join(', ') || 'no actions at the stores'}`,
    `refunds      ${app.refundPolicy ?? 'silent'}`,
    ...(usesEmulator === undefined ? [] : [`stores       ${usesEmulator ? 'emulated' : 'real'}`]),
    `catalogue    ${formatCount(products, 'product')}`,
    `webhooks     ${urls.length > 0 ? `${urls.join(', ')}${password}` : 'off'}`,
    ...(app.alertUrl ? [`alerts       ${toDisplayUrl(app.alertUrl)}`] : []),
    ...(sandboxUrls.length > 0 ? [`sandbox      ${sandboxUrls.join(', ')}`] : []),
  ].join('\n');
}
