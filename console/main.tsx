import './valid-language.ts';
import { render } from 'preact';
import './styles.css';
import { App } from './app.tsx';
import { applyTheme, readTheme } from './stored-theme.ts';

applyTheme(readTheme());
const root = document.getElementById('console');
if (root) render(<App />, root);
