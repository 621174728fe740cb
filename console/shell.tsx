import type { ComponentType } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isOffline } from './api/api-error.ts';
import { emulatorUrl } from './clock.ts';
import { announce } from './components/announcer.tsx';
import { Button } from './components/button.tsx';
import { classes } from './components/classes.ts';
import { SelectField, ToggleField } from './components/fields.tsx';
import { Icon } from './components/icon.tsx';
import { Page } from './components/layout.tsx';
import { EmptyState, ErrorNotice, Notice, Skeleton } from './components/notice.tsx';
import { Badge } from './components/values.tsx';
import { pickFilters } from './pages/figures/filter-names.ts';
import { navigationGroups, type PageDefinition, type PageProps } from './pages/page.ts';
import { pages } from './pages/registry.ts';
import { changeQuery, Link, matchPattern, toHref, useLocation } from './router.tsx';
import { showsSandbox } from './sandbox.ts';
import { restoreScrollPosition } from './scroll-position.ts';
import { SearchDialog } from './search-dialog.tsx';
import { endSession, selectApp, startSession, useSessions } from './session.ts';
import { type StoredSession, stays } from './session-storage.ts';
import { BrandMark } from './sign-in.tsx';
import { selectNextTheme, useTheme } from './theme.ts';

const availablePages = pages.filter(({ isLocal }) => !isLocal || emulatorUrl !== undefined);

interface ShellProps {
  readonly session: StoredSession;
  /** Problem of a link that could not sign in. */
  readonly linkError: string | undefined;
}

/** Navigation and the current page. */
export function Shell({ session, linkError }: ShellProps) {
  const { path, query } = useLocation();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const search = useSearch();
  const match = findPage(path);
  const isSandbox = showsSandbox(query);
  const title = match?.page.title ?? 'Page not found';
  const isFirstPage = useRef(true);
  useEffect(() => {
    setMenuOpen(false);
    restoreScrollPosition();
    if (isFirstPage.current) isFirstPage.current = false;
    else {
      announce(title);
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    }
  }, [path, title]);
  return (
    <div class="shell">
      <header class="top-bar">
        <a class="skip-link" href={toHref(path, {}, query)} onClick={focusContent}>
          Skip to the content
        </a>
        <Link to="/" class="brand">
          <BrandMark /> Claimcheck
        </Link>
        <button type="button" class="button button-quiet menu-button" onClick={search.open}>
          <Icon name="search" />
          Search
        </button>
        <button
          type="button"
          class="button button-quiet menu-button"
          aria-expanded={isMenuOpen}
          aria-controls="navigation"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <Icon name={isMenuOpen ? 'close' : 'menu'} />
          Menu
        </button>
      </header>
      <nav id="navigation" class={classes('navigation', isMenuOpen && 'is-open')} aria-label="Pages">
        <Button icon="search" opensDialog onClick={search.open}>
          Search <kbd class="quiet">Ctrl K</kbd>
        </Button>
        {navigationGroups.map((name) => (
          <div key={name}>
            <h2 class="navigation-title">{name}</h2>
            <ul>
              {availablePages.flatMap(({ path: target, title: label, group, icon, isFigures }) =>
                icon === undefined || group !== name ? (
                  []
                ) : (
                  <li key={target}>
                    <a
                      href={toHref(target, {}, isFigures && match?.page.isFigures ? pickFilters(query) : {})}
                      aria-current={isSectionOf(target, path) ? 'page' : undefined}
                    >
                      <Icon name={icon} /> {label}
                    </a>
                  </li>
                ),
              )}
            </ul>
          </div>
        ))}
        <ToggleField label="Sandbox" isOn={isSandbox} onChange={selectSandbox} />
        <SessionMenu session={session} />
      </nav>
      <main id="content">
        {linkError !== undefined && (
          <Notice tone="warn" icon="alert">
            The link could not sign you in, so you stay in {session.appName}. {linkError}
          </Notice>
        )}
        {isSandbox && (
          <Notice tone="warn">
            Figures, customers and transactions are from the stores' sandboxes: no money was paid.{' '}
            <Button kind="quiet" icon="close" onClick={() => selectSandbox(false)}>
              Leave the sandbox
            </Button>
          </Notice>
        )}
        {match ? <CurrentPage key={path} {...match} query={query} /> : <PageNotFound path={path} />}
      </main>
      {search.isOpen && <SearchDialog pages={availablePages} onClose={search.close} />}
    </div>
  );
}

/** Keeps the filters, but not the position in a list. */
const selectSandbox = (isSandbox: boolean): void =>
  changeQuery({ sandbox: isSandbox ? 'true' : '', skip: '', cursor: '' });

function focusContent(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('main h1')?.focus();
}

interface PageMatch {
  readonly page: PageDefinition;
  readonly params: Readonly<Record<string, string>>;
}

function findPage(path: string): PageMatch | undefined {
  for (const page of availablePages) {
    const params = matchPattern(page.path, path);
    if (params) return { page, params };
  }
  return undefined;
}

/** Returns whether a page of the navigation is the current one or contains it. */
const isSectionOf = (target: string, path: string): boolean =>
  target === '/' ? path === '/' : path === target || path.startsWith(`${target}/`);

/** Returns whether the search is open, and a function that opens and closes it. Ctrl-K or Command-K opens it. */
function useSearch() {
  const [isOpen, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      if (!document.querySelector('dialog[open]')) setOpen(true);
    };
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  }, []);
  return { isOpen, close, open: () => setOpen(true) };
}

const levelNames: Readonly<Record<StoredSession['level'], string>> = {
  secret: 'Secret key',
  viewer: 'Viewer',
  support: 'Support',
};

/** Option of the choice of apps that signs in to another one. */
const addOption = '+';

function SessionMenu({ session }: Pick<ShellProps, 'session'>) {
  const { appName, level, stay } = session;
  const theme = useTheme();
  const apps = useSessions().map((other) => other.appName);
  const details = useRef<HTMLDetailsElement>(null);
  const closeOutside = ({ relatedTarget }: FocusEvent) => {
    const { current } = details;
    if (current && relatedTarget instanceof HTMLElement && !current.contains(relatedTarget)) current.open = false;
  };
  const openApp = (name: string) => {
    // The page of an app can be unknown in another one.
    location.hash = toHref('/', {}, { app: name });
    selectApp(name);
  };
  return (
    <details class="session" ref={details} onFocusOut={closeOutside}>
      <summary class="session-summary">
        <span class="session-name" title={appName}>
          {appName}
        </span>
        <Badge tone={level === 'secret' ? 'info' : 'neutral'}>{levelNames[level]}</Badge>
      </summary>
      <div class="session-menu">
        <SelectField
          label="App"
          value={appName}
          options={[...apps.map((name) => [name, name] as const), [addOption, 'Another app…']]}
          onChange={openApp}
        />
        <SelectField
          label="Stay signed in"
          value={stay}
          options={stays.map(({ id, label }) => [id, label] as const)}
          onChange={(id) => startSession(session, id)}
        />
        <Button
          kind="quiet"
          icon={theme === 'light' ? 'sun' : theme === 'dark' ? 'moon' : 'system'}
          onClick={selectNextTheme}
          label={`Theme: ${theme}. Select the next one.`}
        >
          Theme: {theme}
        </Button>
        <Button kind="quiet" icon="signOut" onClick={endSession}>
          Sign out
        </Button>
      </div>
    </details>
  );
}

type LoadedPage = { readonly Component: ComponentType<PageProps<string>> } | { readonly error: unknown } | undefined;

/** Code of the pages that were opened before, so that they appear without a placeholder. */
const loadedPages = new Map<PageDefinition, ComponentType<PageProps<string>>>();

function CurrentPage({ page, params, query }: PageMatch & Pick<PageProps, 'query'>) {
  const known = loadedPages.get(page);
  const [loaded, setLoaded] = useState<LoadedPage>(known && { Component: known });
  useEffect(() => {
    let isCurrent = true;
    page.load().then(
      (Component) => {
        loadedPages.set(page, Component);
        if (isCurrent) setLoaded({ Component });
      },
      (error: unknown) => isCurrent && setLoaded({ error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [page]);
  if (!loaded)
    return (
      <Page title={page.title}>
        <Skeleton lines={8} />
      </Page>
    );
  if ('error' in loaded)
    return (
      <Page title={page.title}>
        <ErrorNotice error={loaded.error} onRetry={() => isOffline() || location.reload()} />
      </Page>
    );
  return <loaded.Component params={params} query={query} />;
}

const PageNotFound = ({ path }: { readonly path: string }) => (
  <Page title="Page not found">
    <EmptyState title={`The console has no page ${path}.`}>
      <Link to="/">Go to the overview</Link>
    </EmptyState>
  </Page>
);
