import { addCopyButtons } from './copy-buttons.ts';
import { connectLanguageButtons } from './language-buttons.ts';
import { connectSearch } from './search-dialog.ts';
import { connectThemeButton } from './theme-button.ts';
import { markVisibleHeading } from './visible-heading.ts';

const find = (id: string): HTMLElement => {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page lacks #${id}.`);
  return element;
};

document.documentElement.classList.add('scripted');
connectThemeButton(find('theme'));
connectSearch(find('search'), document.body.dataset.search ?? '');
connectMenu(find('menu'), find('navigation'));
addCopyButtons();
connectLanguageButtons();
markVisibleHeading();

/** Shows and hides the navigation on small screens. */
function connectMenu(button: HTMLElement, navigation: HTMLElement): void {
  const toggle = (isOpen: boolean): void => {
    button.setAttribute('aria-expanded', String(isOpen));
    document.body.classList.toggle('menu-open', isOpen);
  };
  button.addEventListener('click', () => toggle(button.getAttribute('aria-expanded') !== 'true'));
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') toggle(false);
  });
  navigation.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
}
