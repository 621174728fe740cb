/**
 * The modules of the console hold the objects of jsdom until the end of the process.
 *
 * @jest-environment-options { "globalsCleanup": "off" }
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { listAnnotations } from '../../lib/annotations/contract.ts';
import { getApp } from '../../lib/apps/contract.ts';
import { searchEvents } from '../../lib/events/contract.ts';
import { getDue } from '../../lib/problems/contract.ts';
import { search } from '../../lib/search/contract.ts';
import { getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import { getChurn, getMrr } from '../../lib/statistics/mrr-contract.ts';
import { listStores } from '../../lib/stores/contract.ts';
import { loadConsoleModule, type RenderedConsole, renderConsole, respondTo } from '../../testing/render-console.ts';

const app = {
  createdAt: '2026-01-01T00:00:00.000Z',
  key: { id: 'k1', name: 'default', level: 'secret' as const },
  strategy: 'all' as const,
  vocabulary: 'neutral' as const,
  sandboxEntitlements: 'all' as const,
  tokenMinutes: 60,
  unverifiedHours: 24,
  catalogue: {},
  stores: [],
  service: { version: '0.1.0' },
};

const rejected = { ok: false, status: 401, code: 'Forbidden', message: '-' } as const;

const unavailable = { ok: false, status: 503, code: 'DatabaseError', message: '-' } as const;

const routes = () => [
  respondTo(getApp, ({ key }) => (key === 'sec_bogus' ? rejected : { ...app, appName: 'other' })),
  respondTo(search, () => ({ results: [] })),
  // A link without a page opens the overview, which sends these requests.
  respondTo(searchEvents, () => unavailable),
  respondTo(getDue, () => unavailable),
  respondTo(listStores, () => unavailable),
  respondTo(getStatsBreakdown, () => unavailable),
  respondTo(getMrr, () => unavailable),
  respondTo(getChurn, () => unavailable),
  respondTo(listAnnotations, () => unavailable),
];

const path = '/customers?q=alice';
let rendered: RenderedConsole;
afterEach(() => rendered.close());

describe('Sessions of the console', () => {
  it('requires a confirmation before a link opens another app, and keeps both apps', async () => {
    rendered = await renderConsole(path, routes());
    await rendered.waitForText('Nothing has the name or id alice.');
    rendered.go('#app=other&key=sec_other');
    await rendered.waitForText('Open other?');
    expect(document.title).toContain('demo');
    await rendered.click('Open other');
    await rendered.waitForText(/App.*demo.*other.*Another app/);
    const { getSession, getLinkApp } = await loadConsoleModule('session.ts');
    expect(getSession?.()).toMatchObject({ appName: 'other', key: 'sec_other' });
    expect(getLinkApp?.()).toBe('other');
  });

  it('stays in the app if the user declines a link', async () => {
    rendered = await renderConsole(path, routes());
    await rendered.waitForText('Nothing has the name or id alice.');
    rendered.go('#app=other&key=sec_other');
    await rendered.click('Stay in demo');
    const { getSession } = await loadConsoleModule('session.ts');
    expect(getSession?.()).toMatchObject({ appName: 'demo' });
  });

  it('keeps the session if the key of a link is wrong', async () => {
    rendered = await renderConsole(path, routes());
    await rendered.waitForText('Nothing has the name or id alice.');
    rendered.go('#app=demo&key=sec_bogus');
    await rendered.waitForText('The link could not sign you in, so you stay in demo.');
    const { getSession } = await loadConsoleModule('session.ts');
    expect(getSession?.()).toMatchObject({ key: 'key' });
  });

  it('requests the key of an app that an address names, and offers the current app', async () => {
    rendered = await renderConsole('/customers?q=alice&app=third', routes());
    await rendered.click('Go on in demo');
    await rendered.waitForText('Nothing has the name or id alice.');
  });

  it('shares a session with other tabs for the chosen time only', async () => {
    rendered = await renderConsole(path, routes());
    const { startSession, getSession, refreshSessions } = await loadConsoleModule('session.ts');
    const session = { appName: 'demo', key: 'key', keyName: 'default', level: 'secret' };
    startSession?.(session, '8h');
    expect(sessionStorage.getItem('claimcheck.sessions')).toBeNull();
    const [stored] = JSON.parse(localStorage.getItem('claimcheck.sessions') ?? '[]');
    expect(stored.expiresAt - Date.now()).toBeLessThanOrEqual(8 * 3_600_000);
    localStorage.setItem('claimcheck.sessions', JSON.stringify([{ ...stored, expiresAt: Date.now() - 1 }]));
    refreshSessions?.();
    expect(getSession?.()).toBeUndefined();
    await rendered.waitForText('Sign in');
  });
});
