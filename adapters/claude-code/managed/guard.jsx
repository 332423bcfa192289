// The mod of phasegate for a whole machine. It stands before all others: no mod of a person or of a project joins, and a
// pane shows where the skills stand.

const PANE = 'phasegate'
const PROGRAM = '@PROGRAM@'

export const register = on => {
  on('plugin.register', { tier: 'user' }, () => ({
    refuse: 'phasegate: only mods of the administrator load on this machine',
  })).catch(($, e, next) =>
    next.called ? next(e) : { refuse: 'phasegate: its own mod failed, so no other one loads' },
  )

  on('session.start', async ($, e, next) => {
    await $.command.register({ name: 'phasegate-phase', description: 'Show the phase of each skill in a pane' })

    return next(e)
  })

  on('command.run', { command: 'phasegate-phase' }, async $ => {
    await $.ui.open({ id: PANE, title: 'phasegate' })

    return { text: 'The pane shows the phase of each skill.' }
  })

  on('ui.render', { component: 'Pane', requestId: PANE }, async ($, e) => {
    const { Box, Text } = $.ui.resolve(e)
    const status = await $.process.run([PROGRAM, 'status'])
    const lines = status.stdout.split('\n').slice(0, Math.max(1, (e.viewport?.rows ?? 24) - 4))

    return (
      <Box flexDirection="column">
        {lines.map(line => (
          <Text>{line}</Text>
        ))}
      </Box>
    )
  })
}
