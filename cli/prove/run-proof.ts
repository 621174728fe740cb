import { setTimeout as sleep } from 'node:timers/promises';
import { getApp } from '../../lib/apps/manage-apps.ts';
import { listEventPage } from '../../lib/events/event-list-table.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { type Platform, platformTokens } from '../../lib/foundation/platform.ts';
import type { Service } from '../../lib/foundation/service.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import { checkWebhooks } from '../../lib/health/check-webhooks.ts';
import { diagnoseStoreSettings } from '../../lib/health/diagnose-store-settings.ts';
import type { Finding } from '../../lib/health/finding.ts';
import { findRefreshState } from '../../lib/purchases/purchase-table.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { buildNotificationUrl } from '../../lib/store-notifications/notification-endpoints.ts';
import { createStoreContext } from '../../lib/stores/create-store-context.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';
import { listPurchaseEvents, selectArrivals, selectBought, selectDeliveries } from './arrivals.ts';
import { type Check, checkStep, type StepObservation } from './check-step.ts';
import { checkTestNotification } from './check-test-notification.ts';
import { explainSilence } from './explain-silence.ts';
import type { Owner } from './owner.ts';
import type { ProofGuide, ProofStep, StepName } from './proof-step.ts';
import { createPseudonyms } from './pseudonyms.ts';
import { recordStep } from './record-step.ts';
import { type RecordedStep, type Recording, toRecordedSettings } from './recording.ts';
import { replaceInJson } from './replace-personal-values.ts';
import type { PurchaseView, ServiceClient } from './service-client.ts';

export interface ProofOptions {
  readonly appName: string;
  readonly platform: Platform;
  readonly isSandbox: boolean;
  readonly steps: readonly StepName[];
  readonly guide: ProofGuide;
  readonly owner: Owner;
  readonly client: ServiceClient;
  /** Base URL of this service. */
  readonly url: string;
  readonly waitMs: number;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  readonly service: Service;
}

export interface StepReport {
  readonly name: StepName;
  readonly document: string;
  /** `late`: all was seen, but a notification after the limit. `unseen`: a check failed until the end of the time. */
  readonly result: 'seen' | 'late' | 'unseen' | 'skipped' | 'not reached';
  readonly startedAt?: string;
  readonly checks: readonly Check[];
}

export interface Proof {
  readonly platform: Platform;
  readonly isSandbox: boolean;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly findings: readonly Finding[];
  readonly steps: readonly StepReport[];
  /** Absent if no purchase was seen. */
  readonly recording?: Recording;
}

/** Each interval is half as long again, up to the maximum: most steps are seen within a second. */
const [minPollIntervalMs, maxPollIntervalMs] = [200, secondMs];

/** Time in which the server of the app can be restarting, and between two checks of its deliveries. */
const receiverGraceMs = 10 * secondMs;

/** The server of the app receives no webhook. */
const receiverFaults: ReadonlySet<Finding['code']> = new Set([
  'webhook-url-not-allowed',
  'webhook-url-disabled',
  'webhook-url-unresponsive',
  'webhook-deliveries-failing',
]);

const testWaitMs = 30 * secondMs;
const ignoreCalls = { addExternalCall: () => {} };

/**
 * Proves the set-up of an app at a store: checks the settings, then watches each step that the owner performs. Ends at
 * the first error of the settings, at a purchase without a notification, and at a server that receives no webhook.
 */
export async function runProof(options: ProofOptions): Promise<Proof> {
  const { appName, platform, isSandbox, service } = options;
  const startedAt = service.now();
  const context = await createStoreContext(service, appName, { platform, recorder: ignoreCalls });
  if (context.settings === undefined)
    throw new ServiceError('InvalidPayload', `The app has no settings for ${platform}: run \`app set-store\`.`);
  const findings = [...(await checkSettings(options, context, startedAt))];
  const session = createSession(options, context, startedAt);
  const reports: StepReport[] = [];
  for (const step of options.guide.steps) {
    const { name, document } = step;
    if (!options.steps.includes(name)) reports.push({ name, document, result: 'skipped', checks: [] });
    else if (findings.some(({ severity }) => severity === 'error' || severity === 'warning') || options.signal.aborted)
      reports.push({ name, document, result: 'not reached', checks: [] });
    else {
      const { report, fault } = await session.runStep(step);
      reports.push(report);
      if (fault) findings.push(fault);
    }
  }
  const recording = await session.buildRecording();
  return {
    platform,
    isSandbox,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(service.now()).toISOString(),
    findings,
    steps: reports,
    ...(recording && { recording }),
  };
}

async function checkSettings(
  { appName, platform, isSandbox, url, service, onProgress }: ProofOptions,
  context: StoreContext,
  startedAt: number,
): Promise<readonly Finding[]> {
  onProgress('Checking the settings of the store');
  const { findings } = await diagnoseStoreSettings(service, appName, { platform, recorder: ignoreCalls });
  const notes = findings.filter(({ severity }) => severity !== 'note');
  if (notes.length > 0 || platform !== platformTokens.appStore) return notes;
  const hasArrived = async (): Promise<boolean> => {
    const { rows } = await listEventPage(service, appName, { limit: 50, includesReads: false });
    return rows.some(
      ({ type, date, content }) =>
        type === `webhook.${platform}.called` &&
        date >= startedAt &&
        content.notifications.some((notification) => notification.type === 'TEST'),
    );
  };
  const notificationUrl = buildNotificationUrl(url, appName, platform) ?? url;
  return await checkTestNotification(context, { isSandbox, url: notificationUrl, hasArrived, waitMs: testWaitMs });
}

function createSession(options: ProofOptions, context: StoreContext, startedAt: number) {
  const { appName, platform, owner, client, service, signal, waitMs, onProgress, isSandbox, url } = options;
  const pseudonyms = createPseudonyms();
  const recordedSteps: RecordedStep[] = [];
  let purchase: PurchaseView | undefined;

  const findBought = async (): Promise<PurchaseView | undefined> =>
    selectBought(await client.listChanged(new Date(startedAt)), platform, startedAt - clockToleranceMs);
  const observe = async (step: ProofStep, base: Pick<StepObservation, 'causedAt' | 'before'>, since: number) => {
    const purchaseId = purchase?.purchaseId ?? (await findBought())?.purchaseId;
    if (purchaseId === undefined) return { ...base, purchase: undefined, arrivals: [], deliveries: [] };
    if (purchase && step.notifications.length === 0 && step.reasons.length > 0)
      await refreshPurchase(service, { appName, purchaseId });
    const [view, events, { webhookSettings }] = await Promise.all([
      client.findPurchase(purchaseId),
      listPurchaseEvents(service, { appName, platform, purchaseId }),
      getApp(service, appName),
    ]);
    const own = events.filter(({ date }) => date >= since);
    const hasUrl = (webhookSettings?.urls ?? []).length > 0;
    return {
      ...base,
      purchase: view,
      arrivals: selectArrivals(own, platform),
      deliveries: hasUrl ? selectDeliveries(own, step.reasons) : undefined,
      ...(step.name === 'restore' && { owners: await client.getOwners(purchaseId) }),
    } satisfies StepObservation;
  };

  const findReceiverFault = async (): Promise<Finding | undefined> =>
    (await checkWebhooks(service, await getApp(service, appName))).find(({ code }) => receiverFaults.has(code));

  return {
    async runStep(step: ProofStep): Promise<{ readonly report: StepReport; readonly fault?: Finding }> {
      const { name, document } = step;
      const before = purchase;
      if (before) await owner.prepare?.(step, before);
      const since = service.now();
      const performed = await owner.perform(step);
      if (performed === 'skipped') return { report: { name, document, result: 'skipped', checks: [] } };
      // A renewal is caused by the end of the period, which the owner can be waiting for.
      const expiration = Date.parse(before?.expirationDate ?? '');
      const causedAt =
        step.isAutomatic && expiration > since && expiration <= service.now() + waitMs ? expiration : since;
      const start = performance.now();
      let checks: readonly Check[] = [];
      let observation: StepObservation;
      let pollIntervalMs = minPollIntervalMs;
      let receiverFault: Finding | undefined;
      let receiverCheckMs = receiverGraceMs;
      for (;;) {
        observation = await observe(step, { causedAt, before }, since);
        checks = checkStep(step, observation, isSandbox);
        const missing = checks.flatMap(({ what, isMet }) => (isMet ? [] : what));
        const waitedMs = performance.now() - start;
        if (missing.length === 0 || waitedMs > waitMs || signal.aborted) break;
        if (waitedMs > receiverCheckMs && missing.every((what) => what === delivery)) {
          receiverCheckMs = waitedMs + receiverGraceMs;
          receiverFault = await findReceiverFault();
          if (receiverFault) break;
        }
        onProgress(`${name}: waiting for ${missing.join(', ')}`);
        await sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
        pollIntervalMs = Math.min(1.5 * pollIntervalMs, maxPollIntervalMs);
      }
      purchase = observation.purchase ?? purchase;
      if (purchase)
        recordedSteps.push(
          await recordStep(name, {
            ...{ appName, platform, isSandbox, since, purchase, pseudonyms, client, service },
            arrivals: observation.arrivals,
          }),
        );
      const isSeen = checks.every(({ isMet }) => isMet);
      const result = !isSeen ? 'unseen' : checks.some(({ isLate }) => isLate) ? 'late' : 'seen';
      const report = { name, document, result, startedAt: new Date(since).toISOString(), checks } as const;
      const isSilent = name === 'buy' && purchase && checks.some(({ what, isMet }) => what === notification && !isMet);
      if (!isSilent) return { report, ...(receiverFault && { fault: receiverFault }) };
      const notificationUrl = buildNotificationUrl(url, appName, platform) ?? url;
      return { report, fault: await explainSilence(context, { platform, url: notificationUrl }) };
    },
    async buildRecording(): Promise<Recording | undefined> {
      if (!purchase) return undefined;
      const { purchaseId } = purchase;
      const state = await findRefreshState(service, appName, purchaseId);
      if (!state?.refreshToken) return undefined;
      return {
        format: 'claimcheck-recording/1',
        platform,
        isSandbox,
        strategy: (await getApp(service, appName)).strategy,
        version: options.version,
        recordedAt: new Date(service.now()).toISOString(),
        settings: toRecordedSettings(context.settings, pseudonyms),
        refreshToken: replaceInJson(state.refreshToken, pseudonyms) as Recording['refreshToken'],
        purchaseId: pseudonyms.replace(purchaseId),
        steps: recordedSteps,
      };
    },
  };
}

const notification = 'store notification' satisfies Check['what'];
const delivery = 'webhook to the app' satisfies Check['what'];

const clockToleranceMs = 10 * 60 * secondMs;
