import type { CallResult } from '../testing/call.ts';
import type { BenchResult } from './bench-result.ts';
import { withTestService } from './with-test-service.ts';

const seconds = 3;
const given = 1_000;

/**
 * Spends at fixed rates, whether or not earlier calls have ended, through the handler on a table engine of this
 * machine: over many customers, and of one. A third of the calls repeats an earlier one. Then recounts each balance
 * from the responses.
 */
export const benchCredits = async (): Promise<BenchResult> =>
  await withTestService(async (service) => {
    const { appName, secretKey } = await service.createApp([]);
    const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
    const { getCustomerCredits, giveCredits, spendCredits } = await import('../lib/credits/contract.ts');
    const headers = buildBasicAuth(appName, secretKey);
    const coins = { credit: 'coins', reason: 'A song' };
    const rows = [];
    for (const { rate, customers } of [
      { rate: 1_000, customers: 1_000 },
      { rate: 20, customers: 1 },
    ]) {
      const users = Array.from({ length: customers }, (_, number) => `${rate}-user-${number}`);
      for (const applicationUsername of users) {
        const body = { ...coins, amount: given, idempotencyKey: 'gift' };
        await callEndpoint(giveCredits, { headers, params: { applicationUsername }, body });
      }
      const { conflicts, times, answers, elapsedMs } = await sendAtRate(rate, async (number) => {
        const params = { applicationUsername: users[number % customers] ?? '' };
        // Every third call repeats the one before it of the same customer.
        const round = Math.floor(number / customers);
        const idempotencyKey = `order-${round - (round % 3 === 2 ? 1 : 0)}`;
        const result = await callEndpoint(spendCredits, {
          headers,
          params,
          body: { ...coins, amount: 1, idempotencyKey },
        });
        return { ...result, id: `${params.applicationUsername} ${idempotencyKey}` };
      });
      let wrong = conflicts;
      const spent = new Map<string, number>();
      for (const id of answers.keys()) {
        const user = id.split(' ', 1)[0] ?? '';
        spent.set(user, (spent.get(user) ?? 0) + 1);
      }
      for (const applicationUsername of users) {
        const { body } = await callEndpoint(getCustomerCredits, { headers, params: { applicationUsername } });
        if (body.credits.coins.balance !== given - (spent.get(applicationUsername) ?? 0)) wrong++;
      }
      const sorted = times.toSorted((a, b) => a - b);
      rows.push({
        'rate /s': rate,
        customers,
        calls: times.length,
        'reached /s': Math.round((1000 * times.length) / elapsedMs),
        'p50 ms': Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
        'p99 ms': Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
        'wrong or lost': wrong,
      });
    }
    return { title: 'Spends of credits, on a table engine of this machine', rows };
  });

/**
 * Calls at a rate. Counts the responses that are not a success, or that differ from an earlier one of the same request.
 */
async function sendAtRate(rate: number, call: (number: number) => Promise<CallResult & { readonly id: string }>) {
  const answers = new Map<string, string>();
  const times: number[] = [];
  let conflicts = 0;
  const startedAt = performance.now();
  const calls = Array.from({ length: rate * seconds }, async (_, number) => {
    const dueMs = (1000 * number) / rate;
    await new Promise((resolve) => setTimeout(resolve, dueMs));
    const { status, body, id } = await call(number);
    times.push(performance.now() - startedAt - dueMs);
    const answer = JSON.stringify(body);
    if (status !== 200 || (answers.get(id) ?? answer) !== answer) conflicts++;
    answers.set(id, answer);
  });
  await Promise.all(calls);
  return { answers, times, conflicts, elapsedMs: performance.now() - startedAt };
}
