import { readFileSync } from 'node:fs';
import { JSDOM, VirtualConsole } from 'jsdom';
import { enforcePreflight } from './enforce-preflight.ts';

/** The native side of a plugin. Its return value goes to the `success` callback, an error it throws to `error`. */
export type NativePlugin = (method: string, args: readonly unknown[], service: string) => unknown;

/** The page of an app in its webview, with Cordova's bridge to a native side that the test provides. */
export interface CordovaPage {
  // biome-ignore lint/suspicious/noExplicitAny: the globals of the plugin are untyped.
  readonly window: any;
  /** Runs a browser file of an npm package in the page, including the work that the file defers. */
  load(file: string): Promise<void>;
  close(): void;
}

/** Times for which the plugins collect changes before they process them or validate. */
const collectingMs: readonly unknown[] = [200, 500, 1_500];

/** Shortens the delays by which the plugins collect changes, which are most of the time of a test. */
function shortenDelays({ window }: JSDOM): void {
  const { setTimeout: realSetTimeout } = window;
  const shortened = (callback: () => void, ms = 0, ...args: unknown[]) =>
    realSetTimeout(callback, collectingMs.includes(ms) ? ms / 20 : ms, ...args);
  Object.assign(window, { setTimeout: shortened });
}

/** Opens a page of `origin` that enforces CORS, preflight requests included. */
export function openCordovaPage(
  platformId: 'ios' | 'android',
  native: NativePlugin,
  origin = 'https://localhost',
): CordovaPage {
  enforcePreflight();
  const dom = new JSDOM('<!doctype html>', {
    url: `${origin}/`,
    runScripts: 'outside-only',
    virtualConsole: new VirtualConsole(),
  });
  shortenDelays(dom);
  const { window } = dom;
  Object.assign(window, { cordova: { platformId, exec: createExec(native) } });
  return {
    window,
    load: async (file) => {
      window.eval(readFileSync(new URL(`../node_modules/${file}`, import.meta.url), 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 10));
    },
    close: () => window.close(),
  };
}

type Callback = ((value: unknown) => void) | null | undefined;

/** Creates `cordova.exec`. Results are delivered asynchronously, as by a real device. */
const createExec =
  (native: NativePlugin) =>
  (success: Callback, error: Callback, service: string, method: string, args: readonly unknown[]) => {
    setTimeout(() => {
      try {
        success?.(native(method, args, service));
      } catch (failure) {
        error?.(failure instanceof Error ? failure.message : failure);
      }
    }, 0);
  };
