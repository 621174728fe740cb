import type { FunctionSettings } from './template.ts';

const requestId = '8286a188-ba32-4475-8077-530cd35c09a9';
const time = '2026-06-01T12:00:00.000Z';

/**
 * Builds a line of a function in Lambda's JSON format: a single object stays an object, everything else is one text.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
 */
export function buildLogLine(level: string, values: readonly unknown[], id: string): string {
  const [first] = values;
  const message = values.length === 1 && typeof first === 'object' ? first : values.map(String).join(' ');
  const levelName = { log: 'INFO', debug: 'DEBUG', info: 'INFO', warn: 'WARN' }[level] ?? 'ERROR';
  return JSON.stringify({ timestamp: time, level: levelName, requestId: id, message });
}

/**
 * Counts the bytes of the lines that Lambda itself writes for a successful invocation: `platform.start` and
 * `platform.report` at the level INFO, none at the level WARN.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
 * @see https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
 */
export function countPlatformBytes({ systemLogLevel, memoryMb }: FunctionSettings): number {
  if (systemLogLevel === 'WARN') return 0;
  const metrics = { durationMs: 123.456, billedDurationMs: 124, memorySizeMB: memoryMb, maxMemoryUsedMB: 100 };
  const lines = [
    { time, type: 'platform.start', record: { requestId, version: '$LATEST' } },
    { time, type: 'platform.report', record: { requestId, metrics, status: 'success' } },
  ];
  return lines.reduce((bytes, line) => bytes + Buffer.byteLength(JSON.stringify(line)), 0);
}

/** Values of a successful request. A variable without a value is written as `-`. */
const accessLogValues: Readonly<Record<string, string>> = {
  requestId,
  httpMethod: 'POST',
  resourcePath: '/v3/customers/{applicationUsername}/purchases',
  status: '200',
  'integration.status': '200',
  'integration.latency': '123',
  responseLatency: '130',
  responseLength: '1234',
  'identity.sourceIp': '203.0.113.200',
};

/** Counts the bytes of a line of the access log in the format of the stage. */
export const countAccessLogBytes = (format: string): number =>
  Buffer.byteLength(format.replace(/\$context\.([\w.]+)/g, (_variable, name: string) => accessLogValues[name] ?? '-'));
