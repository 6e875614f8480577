// One binary with all of Kubernetes that the tests need and no node: etcd, the API server, the controller manager
// and kubectl. One link step in place of four; the first argument chooses.
package main

import (
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	certificates "k8s.io/client-go/util/cert"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlerrors "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

const usage = "usage: kubernetes (etcd | kube-apiserver | kube-controller-manager | kubectl | certificate) ..."

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	component := os.Args[1]
	os.Args = os.Args[1:]
	switch component {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(manager.NewControllerManagerCommand())
	case "kubectl":
		kubectlerrors.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()))
	case "certificate":
		certificate()
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
}

func run(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

// certificate writes the API server's certificate, which is its own authority, and its key, which also signs the tokens
// of service accounts. The certificate is for the loopback address and for the address and name that pods know.
func certificate() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: kubernetes certificate CERTIFICATE_FILE KEY_FILE")
		os.Exit(2)
	}
	addresses := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)}
	names := []string{"localhost", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	certificate, key, err := certificates.GenerateSelfSignedCertKey("127.0.0.1", addresses, names)
	kubectlerrors.CheckErr(err)
	kubectlerrors.CheckErr(os.WriteFile(os.Args[1], certificate, 0o644))
	kubectlerrors.CheckErr(os.WriteFile(os.Args[2], key, 0o600))
}
