import './valid-language.ts';
import { render } from 'preact';
import './styles.css';
import { App } from './app.tsx';
import { applyTheme } from './theme.ts';

applyTheme();
const root = document.getElementById('console');
if (root) render(<App />, root);
