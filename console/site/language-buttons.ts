const storageKey = 'claimcheck.language';

/** Adds buttons to each example that select its language, for all examples and for later pages. */
export function connectLanguageButtons(): void {
  const examples = [...document.querySelectorAll('.example')];
  const blocks = (example: Element): HTMLElement[] => [...example.querySelectorAll<HTMLElement>('[data-language]')];
  const languages = examples[0] ? blocks(examples[0]).map(({ dataset }) => dataset.language ?? '') : [];
  const select = (language: string): void => {
    for (const example of examples) {
      for (const block of blocks(example)) block.hidden = block.dataset.language !== language;
      for (const button of example.querySelectorAll('.languages button'))
        button.setAttribute('aria-pressed', String(button.textContent === language));
    }
  };
  for (const example of examples) {
    const group = document.createElement('div');
    group.className = 'languages';
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', 'Language of the example');
    group.append(
      ...languages.map((language) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = language;
        button.addEventListener('click', () => {
          const { top } = button.getBoundingClientRect();
          select(language);
          storeLanguage(language);
          // Examples above this one have another height now.
          scrollBy(0, button.getBoundingClientRect().top - top);
        });
        return button;
      }),
    );
    example.prepend(group);
  }
  const stored = readLanguage();
  select(languages.find((language) => language === stored) ?? languages[0] ?? '');
}

function readLanguage(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    // The storage is blocked.
    return null;
  }
}

function storeLanguage(language: string): void {
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // The storage is blocked: the language ends with the page.
  }
}
