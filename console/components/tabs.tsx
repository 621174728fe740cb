import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

export interface Tab {
  readonly id: string;
  readonly label: string;
  /** Rendered only while the tab is selected. */
  readonly render: () => ComponentChildren;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** Id of the selected tab; the first one if it is unknown. Keep it in the query of the URL. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
}

/**
 * Tabs with arrow keys, Home and End.
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/tabs/
 */
export function Tabs({ label, tabs, selected, onSelect }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const current = tabs.find((tab) => tab.id === selected) ?? tabs[0];
  if (!current) return null;
  const select = (index: number) => {
    const tab = tabs[(index + tabs.length) % tabs.length];
    if (!tab) return;
    onSelect(tab.id);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[tabs.indexOf(tab)]?.focus();
  };
  const handleKey = (event: KeyboardEvent) => {
    const index = tabs.indexOf(current);
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: index + 1,
      ArrowLeft: index - 1,
      Home: 0,
      End: tabs.length - 1,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    select(target);
  };
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={handleKey}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab === current}
            aria-controls={`${id}-panel`}
            tabIndex={tab === current ? 0 : -1}
            onClick={() => onSelect(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current.id}`} tabIndex={0}>
        {current.render()}
      </div>
    </div>
  );
}
