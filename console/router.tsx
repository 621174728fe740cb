import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { getLinkApp } from './session.ts';

/** Parameters of the query. Empty values are omitted from the URL. */
export type RouteQuery = Readonly<Record<string, string>>;
type QueryPatch = Readonly<Record<string, string | number | undefined>>;

/**
 * The fragment of the URL, `#/customers/alice?skip=100`. It is not sent to the service, so links need no route there.
 */
interface Location {
  /** Percent-encoded. */
  readonly path: string;
  readonly query: RouteQuery;
}

function readLocation(): Location {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split(/\?(.*)/s);
  return { path: path.startsWith('/') ? path : '/', query: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * Builds a link from a pattern such as `/customers/:user`, its parameters and a query. It names the app if the user is
 * signed in to several, and keeps the choice of the sandbox.
 */
export function toHref(pattern: string, params: Readonly<Record<string, string>> = {}, query: QueryPatch = {}): string {
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const { sandbox } = readLocation().query;
  const entries = Object.entries({ app: getLinkApp(), sandbox, ...query }).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return `#${path}${entries.length > 0 ? `?${new URLSearchParams(entries)}` : ''}`;
}

/** Matches a path with a pattern. Returns the decoded parameters, or undefined if it does not match. */
export function matchPattern(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const names = pattern.split('/');
  const segments = path.split('/');
  if (names.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const segment = segments[index] ?? '';
    if (!name.startsWith(':')) {
      if (name !== segment) return undefined;
      continue;
    }
    const value = decodeSegment(segment);
    if (value === undefined || value === '') return undefined;
    params[name.slice(1)] = value;
  }
  return params;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

let isNavigated = false;

/** Returns whether the user has followed a link since the console was opened. */
export const hasNavigated = (): boolean => isNavigated;

function navigate(href: string, { isReplacing = false } = {}): void {
  if (isReplacing) {
    history.replaceState(history.state, '', href);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = href;
}

/** Changes parameters of the query in the URL. `undefined` and the empty string remove a parameter. */
export function changeQuery(patch: QueryPatch, { isReplacing = false } = {}): void {
  const { path, query } = readLocation();
  navigate(toHref(path, {}, { ...query, ...patch }), { isReplacing });
}

export function useLocation(): Location {
  const [current, setCurrent] = useState(readLocation);
  useEffect(() => {
    const update = () => setCurrent(readLocation());
    const navigated = () => {
      isNavigated = true;
      update();
    };
    addEventListener('hashchange', navigated);
    update();
    return () => removeEventListener('hashchange', navigated);
  }, []);
  return current;
}

interface LinkProps {
  /** Pattern such as `/customers/:user`. */
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: QueryPatch;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A link to a page of the console. */
export const Link = ({ to, params, query, children, ...rest }: LinkProps) => (
  <a href={toHref(to, params, query)} {...rest}>
    {children}
  </a>
);
