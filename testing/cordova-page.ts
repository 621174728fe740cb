import { readFileSync } from 'node:fs';
import { JSDOM, VirtualConsole } from 'jsdom';
import { enforcePreflight } from './enforce-preflight.ts';

/** What the native side of a plugin answers: the result for `success`, or a thrown text for `error`. */
export type NativePlugin = (method: string, args: readonly unknown[], service: string) => unknown;

/** A page of an app in its webview, with Cordova's bridge to a native side that the test plays. */
export interface CordovaPage {
  // biome-ignore lint/suspicious/noExplicitAny: the plugin's globals have no types in a page.
  readonly window: any;
  /** Runs a browser file of an npm package in the page, and what it puts off until the page is idle. */
  load(file: string): Promise<void>;
  close(): void;
}

/** A page of `origin`: its XMLHttpRequest asks for leave before it sends JSON, and refuses what CORS does not allow. */
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
  const { window } = dom;
  Object.assign(window, { cordova: { platformId, exec: createExec(native) } });
  return {
    window,
    load: async (file) => {
      window.eval(readFileSync(new URL(`../../node_modules/${file}`, import.meta.url), 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 10));
    },
    close: () => window.close(),
  };
}

type Callback = ((value: unknown) => void) | null | undefined;

/** Native answers come later, never from within the call. */
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
