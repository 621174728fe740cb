import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { hasNavigated } from '../router.tsx';
import { getSession } from '../session.ts';
import { toVisibleText } from '../visible-text.ts';

interface PageProps {
  readonly title: string;
  /** Line above the title, for example a link to the list. */
  readonly context?: ComponentChildren;
  readonly subtitle?: ComponentChildren;
  /** Buttons and filters at the right of the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/**
 * Frame of each page: title, actions, content. The tab has the same title. The title has the focus after a navigation.
 */
export function Page({ title, context, subtitle, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = [toVisibleText(title), getSession()?.appName, 'Claimcheck'].filter(Boolean).join(' · ');
  }, [title]);
  useEffect(() => {
    // The page replaces its placeholder, which had the focus.
    if (hasNavigated() && document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="page">
      <header class="page-header">
        <div class="page-heading">
          {context && <p class="page-context">{context}</p>}
          <h1 tabIndex={-1} ref={heading}>
            {title}
          </h1>
          {subtitle && <p class="quiet">{subtitle}</p>}
        </div>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ComponentChildren;
  /** Sentence below the title. */
  readonly description?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A card with a title. */
export function Section({ title, actions, description, children }: SectionProps) {
  const id = useId();
  return (
    <section class="section" aria-labelledby={id}>
      <header class="section-header">
        <h2 id={id}>{title}</h2>
        {actions && <div class="section-actions">{actions}</div>}
      </header>
      {description && <p class="section-description">{description}</p>}
      {children}
    </section>
  );
}

/** Children side by side: as many columns as fit with the minimum width. */
export const Columns = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="columns">{children}</div>
);

/** Controls in a row that wraps. */
export const Row = ({ children }: { readonly children: ComponentChildren }) => <div class="row">{children}</div>;
