import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { announceResult } from './announcer.tsx';
import { Icon, type IconName } from './icon.tsx';

interface MenuProps {
  /** Accessible name of the button. */
  readonly label: string;
  readonly icon: IconName;
  /** Visible text of the button. */
  readonly text?: string;
  readonly render: () => ComponentChildren;
}

/** A button that opens links and controls above the page: not clipped by a table that scrolls. Escape closes it. */
export function Menu({ label, icon, text, render }: MenuProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={text ? 'button button-quiet' : 'copy-button'} popovertarget={id} aria-label={label}>
        <Icon name={icon} />
        {text}
      </button>
      <div
        id={id}
        popover="auto"
        class="menu"
        onBeforeToggle={({ currentTarget, newState }) => {
          setOpen(newState === 'open');
          if (newState === 'open') place(currentTarget);
        }}
      >
        {isOpen && render()}
      </div>
    </>
  );
}

/** Places the menu at its button, towards the middle of the window. It follows the button when the page scrolls. */
function place(menu: HTMLElement): void {
  const button = menu.previousElementSibling ?? menu;
  const follow = () => {
    const { top, bottom, left, right } = button.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const [above, below] = bottom < clientHeight / 2 ? [`${bottom}px`, 'auto'] : ['auto', `${clientHeight - top}px`];
    const [start, end] = left < clientWidth / 2 ? [`${left}px`, 'auto'] : ['auto', `${clientWidth - right}px`];
    menu.style.inset = `${above} ${end} ${below} ${start}`;
  };
  follow();
  menu.onclick = ({ target }) => {
    if (target instanceof Element && target.closest('a, button')) menu.hidePopover();
  };
  const open = new AbortController();
  menu.addEventListener('beforetoggle', () => open.abort(), { once: true });
  addEventListener('scroll', follow, { capture: true, signal: open.signal });
}

interface CopyItemProps {
  readonly value: string;
  /** Name of the value, such as "purchase id". */
  readonly name: string;
}

/** An entry of a menu that copies a value. */
export const CopyItem = ({ value, name }: CopyItemProps) => (
  <button
    type="button"
    onClick={async () => {
      await navigator.clipboard.writeText(value);
      announceResult(`The ${name} is copied.`);
    }}
  >
    Copy the {name}
  </button>
);
