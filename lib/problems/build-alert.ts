import type { ProblemChanges } from './compare-problems.ts';
import { formatDistance } from './format-distance.ts';

const symbols = { bad: '🔴', warn: '🟠' } as const;

/**
 * Builds the body of an alert in Slack's format.
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export const buildAlert = (appName: string, { started, ended }: ProblemChanges, now: number): string =>
  toBody(appName, [
    ...started.map(({ tone, text }) => `${symbols[tone]} ${text}`),
    ...ended.map(({ startedAt, text }) => `✅ Ended, reported ${formatDistance(startedAt - now, ['en-US'])}: ${text}`),
  ]);

export const buildTestAlert = (appName: string): string => toBody(appName, ['✅ A test: alerts arrive here.']);

const toBody = (appName: string, lines: readonly string[]): string =>
  JSON.stringify({ text: [`*Claimcheck, app ${appName}*`, ...lines].map(escapeText).join('\n') });

/**
 * Escapes the characters with which Slack marks links and mentions.
 * @see https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
