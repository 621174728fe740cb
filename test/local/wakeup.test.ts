import { describe, expect, it } from '@jest/globals';
import { createWakeup } from '../../local/wakeup.ts';

const { signal } = new AbortController();
const hourMs = 3_600_000;

describe('createWakeup', () => {
  it('ends every wait', async () => {
    const wakeup = createWakeup();
    const waits = [wakeup.wait(wakeup.count, hourMs, signal), wakeup.wait(wakeup.count, hourMs, signal)];
    wakeup.wake();
    await Promise.all(waits);
    expect(wakeup.count).toBe(1);
  });

  it('ends a wait at once if a wake-up came before it', async () => {
    const wakeup = createWakeup();
    const { count } = wakeup;
    wakeup.wake();
    await wakeup.wait(count, hourMs, signal);
    expect(wakeup.count).toBe(count + 1);
  });

  it('ends a wait after its time and when its signal aborts', async () => {
    const wakeup = createWakeup();
    await wakeup.wait(wakeup.count, 1, signal);
    const closing = new AbortController();
    const waiting = wakeup.wait(wakeup.count, hourMs, closing.signal);
    closing.abort();
    await waiting;
    await wakeup.wait(wakeup.count, hourMs, closing.signal);
    expect(wakeup.count).toBe(0);
  });
});
