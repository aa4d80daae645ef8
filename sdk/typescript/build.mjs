// Builds dist: modules for import and for require, with their types.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import ts from 'typescript'

rmSync('dist', { recursive: true, force: true })
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], { stdio: 'inherit' })

// What tsc has checked needs another form of modules only.
mkdirSync('dist/cjs')
for (const name of readdirSync('src')) {
  const { outputText } = ts.transpileModule(readFileSync(`src/${name}`, 'utf8'),
    { compilerOptions: { target: ts.ScriptTarget.ES2020, module: ts.ModuleKind.CommonJS } })
  const file = name.replace(/ts$/, '')
  writeFileSync(`dist/cjs/${file}js`, outputText)
  copyFileSync(`dist/esm/${file}d.ts`, `dist/cjs/${file}d.ts`)
}
writeFileSync('dist/cjs/package.json', '{"type":"commonjs"}\n')

execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'samples'], { stdio: 'inherit' })
copyFileSync('samples/page/index.html', 'dist/samples/page/index.html')
copyFileSync('../../LICENSE', 'dist/LICENSE')
