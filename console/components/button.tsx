import type { ComponentChildren } from 'preact';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: () => void;
  readonly icon?: IconName;
  /** `primary` for the main action of a page, `danger` for changes that cannot be undone, `quiet` without a border. */
  readonly kind?: 'primary' | 'normal' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean;
  /** Ignores clicks and announces that the action is in progress. The button keeps the focus. */
  readonly isBusy?: boolean;
  /** For a toggle: whether it is on. */
  readonly isPressed?: boolean;
  readonly opensDialog?: boolean;
  /** Accessible name of a button whose content is not a sufficient text. */
  readonly label?: string;
}

export const Button = ({
  children,
  onClick,
  icon,
  kind = 'normal',
  type = 'button',
  isDisabled = false,
  isBusy = false,
  isPressed,
  opensDialog = false,
  label,
}: ButtonProps) => (
  <button
    type={type}
    class={classes('button', `button-${kind}`)}
    onClick={isBusy ? (event) => event.preventDefault() : onClick}
    disabled={isDisabled}
    aria-disabled={isBusy}
    aria-busy={isBusy}
    aria-pressed={isPressed}
    aria-haspopup={opensDialog ? 'dialog' : undefined}
    aria-label={label}
  >
    {icon && <Icon name={icon} />}
    {children}
  </button>
);
